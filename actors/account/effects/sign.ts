import { hash } from 'node:crypto'
import type { ApprovalToSign } from '../../../src/domain/approval.js'
import type { Hex, KeyId, SubWalletId, TxId } from '../../../src/domain/ids.js'
import { fault } from '../../../src/errors/fault.js'
import type { SignedAuthorization } from '../../../src/quorum-protocol/sign-payload.js'
import type {
  SignApproval,
  SignOutcome,
  SignRequest,
} from '../../../src/service-custody/co-signer.js'
import type { AccountCommand } from '../core/messages.js'
import type { AccountDraft } from '../core/state.js'
import type { AccountPorts } from '../ports.js'
import { isJudged, refusalFault } from './refusal-fault.js'

/** The wallet and the key that request a signature. */
export interface Signer {
  readonly walletId: SubWalletId
  /** Both null for the service's own wallets. */
  readonly keyId: KeyId | null
  readonly proofKey: Uint8Array | null
  readonly authorization: SignedAuthorization | null
  /** The approval of a call that waited, in place of its key's proof. */
  readonly approval?: ApprovalToSign
}

/** The part of an approval that the other domains check. */
export function shownApproval(approval: ApprovalToSign): SignApproval {
  const { approvalId, expiresAtMs, maxNativeWei, proofs } = approval
  const bytes = proofs.map((proof) => Buffer.from(proof.slice(2), 'hex'))
  return { approvalId, expiresAtMs, maxNativeWei, proofs: bytes }
}

type SignatureCommand = Extract<AccountCommand, { type: 'signed' | 'sign-failed' | 'nonce-taken' }>

/** Step 4 of the lifecycle: both domains approve; the quorum signer joins the shares and signs. */
export function sign(
  { coSigner, timers, log }: Pick<AccountPorts, 'coSigner' | 'timers' | 'log'>,
  { walletId, keyId, proofKey, authorization, approval }: Signer,
  draft: AccountDraft,
  nonce: number,
  replaces: Hex | null,
  self: (command: SignatureCommand) => void,
): void {
  const { txId } = draft
  const { chainId, to, value, data } = draft.call
  // Flat, like the fields of an EIP-1559 transaction.
  const payload = {
    type: 'transaction',
    chainId,
    nonce,
    to,
    value,
    data,
    gasLimit: draft.gasLimit,
    maxFeePerGas: draft.maxFeePerGas,
    maxPriorityFeePerGas: draft.maxPriorityFeePerGas,
  } as const
  const request: SignRequest = {
    walletId,
    keyId,
    requestId: requestIdBytes(draft.requestId),
    proofKey,
    replaces: replaces === null ? null : Buffer.from(replaces.slice(2), 'hex'),
    payload: authorization === null ? payload : { ...payload, authorizationList: [authorization] },
  }
  coSigner
    .sign(approval === undefined ? request : { ...request, approval: shownApproval(approval) })
    .then(
      (outcome) => {
        if (!outcome.ok && keyId === null) {
          log.warn({ txId, reason: outcome.reason }, 'an account of the service may not sign')
        }
        self(outcomeCommand(outcome, txId, nonce, timers.now()))
      },
      (error: unknown) => {
        log.warn({ err: error, txId }, 'signing failed')
        self(failed(txId, nonce, timers.now()))
      },
    )
}

/** Translates a signature or its refusal into a command for the lane. */
function outcomeCommand(
  outcome: SignOutcome,
  txId: TxId,
  nonce: number,
  nowMs: number,
): SignatureCommand {
  if (outcome.ok) {
    const { txHash, rawTransaction, intentId } = outcome
    if (txHash === undefined || rawTransaction === undefined) return failed(txId, nonce, nowMs)
    const signed = { txHash, rawTransaction, intentId: toHex(intentId), signedAtMs: nowMs }
    return { type: 'signed', txId, nonce, signed, nowMs }
  }
  if (outcome.reason === 'NONCE_TAKEN' && outcome.takenBy !== undefined) {
    return { type: 'nonce-taken', txId, nonce, takenBy: toHex(outcome.takenBy), nowMs }
  }
  if (isJudged(outcome)) {
    return { type: 'sign-failed', txId, nonce, fault: refusalFault(outcome), nowMs }
  }
  return failed(txId, nonce, nowMs, outcome.explanation)
}

function failed(txId: TxId, nonce: number, nowMs: number, explanation?: string): SignatureCommand {
  const unavailable = fault('COSIGNER_UNAVAILABLE', {}, explanation)
  return { type: 'sign-failed', txId, nonce, fault: unavailable, nowMs }
}

export function toHex(bytes: Uint8Array): Hex {
  const { buffer, byteOffset, byteLength } = bytes
  return `0x${Buffer.from(buffer, byteOffset, byteLength).toString('hex')}`
}

/** Derives 16 bytes that stand for the caller's request id in the evidence of both domains. */
function requestIdBytes(requestId: string): Uint8Array {
  return Buffer.from(hash('sha256', requestId, 'binary').slice(0, 16), 'latin1')
}
