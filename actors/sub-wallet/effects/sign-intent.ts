import type { ChainAccess } from '../../../src/chains/access.js'
import { encodeExecute } from '../../../src/contracts/router-intent.js'
import type { RouterIntent } from '../../../src/contracts/router-intent-type.js'
import { approvalNonce } from '../../../src/domain/approval.js'
import { type SubWalletId, ulidBytes } from '../../../src/domain/ids.js'
import type { Authorization } from '../../../src/domain/sponsorship.js'
import { type Fault, FaultError, fault } from '../../../src/errors/fault.js'
import type { SignPayload } from '../../../src/quorum-protocol/sign-payload.js'
import type { SignOutcome } from '../../../src/service-custody/co-signer.js'
import { isJudged, refusalFault } from '../../account/effects/refusal-fault.js'
import { shownApproval, toHex } from '../../account/effects/sign.js'
import type { Command } from '../core/messages.js'
import type { SponsoredEffect } from '../core/sponsored-messages.js'
import { type IntentPurpose, intentRequestBytes } from '../intent-request.js'
import type { SubWalletPorts } from '../ports.js'

type SignIntent = Extract<SponsoredEffect, { type: 'sign-intent' }>

/**
 * How long an intent is valid. A failed one holds its spend for that time, and a gas wallet that
 * has to raise its fee needs a few blocks of the slowest chain. The Router allows 600.
 */
const INTENT_LIFETIME_SECONDS = 180

/**
 * Step 4 of the lifecycle for a sponsored call: signs the intent, and the authorization when one is
 * due.
 */
export function signIntent(
  ports: SubWalletPorts,
  walletId: SubWalletId,
  effect: SignIntent,
  self: (command: Command) => void,
): void {
  const { txId } = effect.draft
  signBoth(ports, walletId, effect).then(
    (signed) => self({ type: 'intent-signed', txId, signed, nowMs: ports.timers.now() }),
    (error: unknown) => {
      ports.log.warn({ err: error, txId }, 'an intent could not be signed')
      const chainNonce = error instanceof NonceMoved ? error.chainNonce : null
      const why = error instanceof FaultError ? error.fault : fault('COSIGNER_UNAVAILABLE')
      self({ type: 'intent-failed', txId, fault: why, chainNonce, nowMs: ports.timers.now() })
    },
  )
}

async function signBoth(ports: SubWalletPorts, walletId: SubWalletId, effect: SignIntent) {
  const { draft, intentNonce } = effect
  const { chainId, account, router, terms } = draft
  const chain = ports.chains.get(chainId)
  if (chain === undefined || !terms.ok) throw new Error(`${draft.txId} cannot be signed`)
  const deadlineSeconds = (await nowSeconds(ports, chain)) + INTENT_LIFETIME_SECONDS
  const nonce = nonceOf(draft, intentNonce)
  const intent: RouterIntent = { ...terms.value, account, nonce, deadline: deadlineSeconds }
  const [outcome, authorization] = await Promise.all([
    ask(ports, walletId, effect, 'intent', {
      type: 'router-intent',
      chainId,
      verifyingContract: router,
      intent,
    }),
    authorizationOf(ports, walletId, effect, chain),
  ])
  if (!outcome.ok) throw new FaultError(refusalOf(outcome))
  if (outcome.coSignature === undefined) throw new Error('no co-signature came with the intent')
  const calldata = encodeExecute(intent, outcome.signature, outcome.coSignature)
  return { calldata, authorization, deadlineSeconds }
}

function nonceOf({ txId, approval }: SignIntent['draft'], counted: number | null): bigint {
  if (approval !== undefined) return approvalNonce(ulidBytes(approval.approvalId))
  if (counted === null) throw new Error(`${txId} has no intent nonce`)
  return BigInt(counted)
}

/** The block's timestamp, or our clock when a quiet chain's newest block is old. */
async function nowSeconds(ports: SubWalletPorts, chain: ChainAccess): Promise<number> {
  const { head } = await chain.fees.quote()
  return Math.floor(Math.max(head.timestampMs, ports.timers.now()) / 1_000)
}

async function authorizationOf(
  ports: SubWalletPorts,
  walletId: SubWalletId,
  effect: SignIntent,
  chain: ChainAccess,
): Promise<Authorization | null> {
  const { authorization: wanted, draft } = effect
  if (wanted === null || 'r' in wanted) return wanted
  const { chainId, account, delegate } = draft
  const { nonce } = wanted
  const chainNonce = await chain.reads.transactionCount(account, 'latest')
  // The chain silently skips an authorization for a used nonce, and the execution reverts.
  if (chainNonce !== nonce) throw new NonceMoved(chainNonce)
  const payload = { type: 'authorization', chainId, nonce, delegate } as const
  let outcome = await ask(ports, walletId, effect, 'authorization', payload)
  if (!outcome.ok && outcome.takenBy !== undefined) {
    // An approval was bound to this nonce without result: the chain has not used it.
    outcome = await ask(ports, walletId, effect, 'again', payload, outcome.takenBy)
  }
  if (!outcome.ok) throw new FaultError(refusalOf(outcome))
  const { signature } = outcome
  return {
    chainId,
    address: delegate,
    nonce,
    yParity: signature[64] === 1 ? 1 : 0,
    r: toHex(signature.subarray(0, 32)),
    s: toHex(signature.subarray(32, 64)),
  }
}

/** The account was used from outside; the lane has to be synchronised before another attempt. */
class NonceMoved extends FaultError {
  readonly chainNonce: number

  constructor(chainNonce: number) {
    super(
      fault(
        'CHAIN_UNAVAILABLE',
        { reason: 'nonce used from outside' },
        'The account was used from outside the service; send again.',
      ),
    )
    this.chainNonce = chainNonce
  }
}

function ask(
  { coSigner }: SubWalletPorts,
  walletId: SubWalletId,
  { draft }: SignIntent,
  purpose: IntentPurpose,
  payload: SignPayload,
  replaces: Uint8Array | null = null,
): Promise<SignOutcome> {
  const { keyId, proofKey, approval } = draft
  return coSigner.sign({
    walletId,
    keyId,
    requestId: intentRequestBytes(draft, purpose),
    proofKey,
    replaces,
    payload,
    ...(approval === undefined ? {} : { approval: shownApproval(approval) }),
  })
}

function refusalOf(outcome: Extract<SignOutcome, { ok: false }>): Fault {
  if (isJudged(outcome)) return refusalFault(outcome)
  return fault('COSIGNER_UNAVAILABLE', {}, outcome.explanation, outcome.detail)
}
