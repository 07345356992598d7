import {
  type IntentPurpose,
  intentRequestBytes,
} from '../../../actors/sub-wallet/intent-request.js'
import type { ApprovalSought, RecordedApproval } from '../../custody/evidence/find-approvals.js'
import { type SubWalletId, ulidBytes } from '../../domain/ids.js'
import { isoTime } from '../../domain/iso-time.js'
import { isSponsored } from '../../domain/sponsorship.js'
import type { SignedAttempt, Transaction } from '../../domain/transaction.js'
import { INTENT_LIFETIME_MS_MAX } from '../../quorum-protocol/limits.js'
import type { OperationPorts } from '../ports.js'

type Ports = Pick<OperationPorts, 'reader' | 'recordedApproval'>

/** The purpose of a signature for one call. */
type Signed = 'transaction' | 'cancellation' | 'router_intent' | 'delegation'

/** Two reads of one clock may differ by this much. */
const LATER_MS = 250
/** A gas wallet may take as long to sign as a Router intent lives, with a margin. */
const CARRIED_WITHIN_MS = 240_000

/**
 * Returns both approvals of everything that was signed for a transaction, oldest first. The service
 * recorded the identity provider's approval before it used the quorum signer's answer; that answer
 * is the signature, which nobody else can make.
 */
export function signaturesOf(ports: Ports, tx: Transaction) {
  const own = attemptsOf(ports, tx)
  return isSponsored(tx.kind) ? [...intentsOf(ports, tx), ...own] : own
}

function attemptsOf(ports: Ports, tx: Transaction) {
  const walletId = signingWallet(ports, tx)
  const recordedOf = ({ intentId, signedAtMs }: SignedAttempt, chain: number | undefined) => {
    if (walletId === null) return null
    const wanted = Buffer.from(intentId.slice(2), 'hex')
    const sought: ApprovalSought = {
      walletId: ulidBytes(walletId),
      // An earlier request has expired.
      sinceMs: signedAtMs - INTENT_LIFETIME_MS_MAX,
      untilMs: signedAtMs + LATER_MS,
      isIt: (id) => wanted.equals(id),
    }
    // One thread signs everything of a wallet, until the service restarts.
    const near = chain === undefined ? null : ports.recordedApproval({ ...sought, chain })
    return near ?? ports.recordedApproval(sought)
  }
  let chain: number | undefined
  return tx.attempts.map((attempt) => {
    const recorded = recordedOf(attempt, chain)
    chain = recorded?.chain ?? chain
    return signatureView(
      attempt.cancels === true ? 'cancellation' : 'transaction',
      recorded,
      attempt,
    )
  })
}

/** What the wallet's own key signed for a call that a gas wallet sends. */
function intentsOf({ recordedApproval }: Ports, tx: Transaction) {
  const [first] = tx.attempts
  if (first === undefined) return []
  const sought = (purpose: IntentPurpose): ApprovalSought => {
    const wanted = intentRequestBytes(tx, purpose)
    return {
      walletId: ulidBytes(tx.subWalletId),
      sinceMs: first.signedAtMs - CARRIED_WITHIN_MS,
      untilMs: first.signedAtMs + LATER_MS,
      isIt: (_, requestId) => Buffer.compare(wanted, requestId) === 0,
    }
  }
  const intent = recordedApproval(sought('intent'))
  const shown = [signatureView('router_intent', intent, NOT_KEPT)]
  if (intent === null) return shown
  // Few calls need a delegation; those request it together with the intent.
  for (const purpose of ['authorization', 'again'] as const) {
    const recorded = recordedApproval({ ...sought(purpose), chain: intent.chain })
    if (recorded !== null) shown.push(signatureView('delegation', recorded, NOT_KEPT))
  }
  return shown
}

/** Intents are removed with their sponsorship, once the call has ended. */
const NOT_KEPT = { intentId: null, txHash: null, signedAtMs: null }

/** The wallet whose key signs the bytes: the gas wallet's, if one pays. */
function signingWallet({ reader }: Ports, tx: Transaction): SubWalletId | null {
  if (!isSponsored(tx.kind)) return tx.subWalletId
  const gasWalletId = reader.gas.transaction(tx.txId)?.gasWalletId
  const gasWallet = gasWalletId === undefined ? undefined : reader.gas.wallet(gasWalletId)
  return gasWallet?.walletId ?? null
}

function signatureView(
  of: Signed,
  recorded: RecordedApproval | null,
  signed: {
    readonly intentId: string | null
    readonly txHash: string | null
    readonly signedAtMs: number | null
  },
) {
  const { txHash, signedAtMs } = signed
  const intentId = signed.intentId ?? (recorded === null ? null : hex(recorded.intentId))
  return {
    ...{ of, tx_hash: txHash, intent_id: intentId },
    identity_provider:
      recorded === null
        ? null
        : {
            recorded_at: isoTime(recorded.recordedAtMs),
            signature: hex(recorded.signature),
            evidence: {
              ...{ log: 'service' as const, chain: recorded.chain, index: recorded.index },
              hash: hex(recorded.hash),
            },
          },
    quorum_signer: {
      signed_at: signedAtMs === null ? null : isoTime(signedAtMs),
      boot: recorded === null ? null : hex(recorded.quorumBoot),
    },
  }
}

function hex(bytes: Buffer): string {
  return `0x${bytes.toString('hex')}`
}
