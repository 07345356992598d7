import type { SignOutcome, SignRefusal } from '../co-signer.js'
import type { RefusalCode } from '../protocol/refusal.js'

export type FailedOutcome = Extract<SignOutcome, { ok: false }>

/**
 * Refusals that say nothing about the payload: a fresh attempt may pass. Everything else is the
 * other domains' judgement and stands.
 */
const TRANSIENT: ReadonlySet<RefusalCode> = new Set([
  'EXPIRED',
  'REPLAYED',
  // Its share is being refreshed: the two sides change over one after the other.
  'WRONG_EPOCH',
  'NO_SESSION',
  'UNAUTHENTIC',
  'NOT_APPROVED',
  'INTERNAL',
  'OVERLOADED',
])

export function failed(code: RefusalCode, takenBy?: Uint8Array): FailedOutcome {
  if (code === 'NONCE_TAKEN' && takenBy !== undefined) {
    return { ok: false, reason: 'NONCE_TAKEN', takenBy: Uint8Array.from(takenBy), detail: code }
  }
  const reason: SignRefusal = TRANSIENT.has(code) ? 'UNAVAILABLE' : 'REFUSED'
  return { ok: false, reason, detail: code }
}

export function unavailable(detail: string): FailedOutcome {
  return { ok: false, reason: 'UNAVAILABLE', detail }
}
