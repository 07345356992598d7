import type { ShareStore } from '../custody/domain-keys/share-store.js'
import { ulidBytes } from '../domain/ids.js'
import { isZero } from '../quorum-protocol/bytes.js'
import { type IntentApproval, NO_ID } from '../quorum-protocol/intent.js'
import { PAYLOAD_BYTES_MAX } from '../quorum-protocol/limits.js'
import { encodePayload } from '../quorum-protocol/payload.js'
import { Refusal } from '../quorum-protocol/refusal.js'
import type { SignApproval, SignOutcome, SignRequest } from './co-signer.js'
import type { GrantReference, GrantReferences } from './grant-references.js'
import { unavailable } from './outcome.js'
import type { PreparedIntent } from './sign-batch.js'
import type { SignPipeline } from './sign-pipeline.js'

/** A rotation changes a grant twice; after more changes in a row the caller has to retry. */
const GRANT_ATTEMPTS_MAX = 4

export interface IntentSignerOptions {
  readonly shares: Pick<ShareStore, 'get' | 'requireShare'>
  readonly grants: Pick<GrantReferences, 'of' | 'forget'>
  readonly pipeline: Pick<SignPipeline, 'sign'>
}

/**
 * Checks and encodes one request and puts it into the pipeline under the key's current grant.
 * @returns a signer that throws Refusal, RangeError or Unanswered for a request that no batch can
 * carry
 */
export function createIntentSigner({ shares, grants, pipeline }: IntentSignerOptions) {
  /** Returns a promise only when the identity provider must be asked for the key's grant. */
  function prepare(request: SignRequest): PreparedIntent | Promise<PreparedIntent> {
    const walletId = ulidBytes(request.walletId)
    const wallet = shares.get(walletId)
    if (wallet === null || wallet.proofs === null) throw new Refusal('UNKNOWN_WALLET', 'no key')
    // Checked before it joins a batch, because the whole batch would fail with it.
    shares.requireShare(wallet)
    const { type, bytes: payload } = encodePayload(request.payload)
    // A payload that is too long would break the frame and its whole batch. The other domains judge
    // the rest.
    if (payload.length > PAYLOAD_BYTES_MAX) throw new Refusal('MALFORMED', 'payload length')
    const { requestId, replaces, proofKey } = request
    if (requestId.length !== 16) throw new Refusal('MALFORMED', 'request id')
    if (replaces !== null && replaces.length !== 32) throw new Refusal('MALFORMED', 'replaces')
    const keyId = keyIdBytes(request)
    const approval = request.approval === undefined ? null : intentApproval(request.approval)
    const under = (grant: GrantReference | null): PreparedIntent => ({
      walletId,
      keyId,
      requestId,
      replaces,
      proofKey,
      grant,
      approval,
      wallet,
      type,
      payload,
    })
    // A call without a proof is judged without a grant.
    const grant = !namesGrant(request) || isZero(keyId) ? null : grants.of(keyId)
    return grant instanceof Promise ? grant.then(under) : under(grant)
  }

  function attempt(request: SignRequest): Promise<SignOutcome> {
    const intent = prepare(request)
    return intent instanceof Promise ? intent.then(pipeline.sign) : pipeline.sign(intent)
  }

  /**
   * Retries while a key's grant changes during the judgement of one intent. A request without a
   * grant, such as a replacement without a key, is refused instead.
   */
  return async function underPresentGrant(request: SignRequest): Promise<SignOutcome> {
    for (let attempts = 1; ; attempts++) {
      const outcome = await attempt(request)
      const isStale = !outcome.ok && outcome.detail === 'STALE_GRANT' && namesGrant(request)
      if (!isStale) return outcome
      if (attempts === GRANT_ATTEMPTS_MAX) return unavailable(outcome.detail)
      grants.forget(keyIdBytes(request))
    }
  }
}

function namesGrant({ proofKey, approval }: SignRequest): boolean {
  return proofKey !== null || approval !== undefined
}

function intentApproval({ approvalId, expiresAtMs, maxNativeWei }: SignApproval): IntentApproval {
  return { approvalId: ulidBytes(approvalId), expiresAtMs, maxNativeWei }
}

function keyIdBytes({ keyId }: SignRequest): Uint8Array {
  return keyId === null ? NO_ID : ulidBytes(keyId)
}
