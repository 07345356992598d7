import { type Fault, fault } from '../errors/fault.js'
import { ByteReader } from '../quorum-protocol/bytes.js'
import { FREEZE_SCOPES } from '../quorum-protocol/freeze-scopes.js'
import type { RefusalCode } from '../quorum-protocol/refusal.js'
import type { SignOutcome, SignRefusal } from './co-signer.js'

type FailedOutcome = Extract<SignOutcome, { ok: false }>

/**
 * Refusals that say nothing about the payload, so a new attempt may pass. All others are the other
 * domains' judgement and are kept.
 */
const TRANSIENT: ReadonlySet<RefusalCode> = new Set([
  'EXPIRED',
  'REPLAYED',
  // The share is being refreshed: the two domains change over one after the other.
  'WRONG_EPOCH',
  'NO_SESSION',
  'UNAUTHENTIC',
  'NOT_APPROVED',
  'INTERNAL',
  'OVERLOADED',
  // This concerns the sender, not the payload.
  'FENCED',
  'NO_SPACE',
  // Its time has not come by the other domain's clock.
  'APPROVAL_EARLY',
])

const TAKEN_OVER =
  'Another start of this service has taken over its wallets; this one no longer signs.'

/** The fault of a service after a later start has taken over. */
export function takenOver(internal: string): Fault {
  return fault('COSIGNER_UNAVAILABLE', { reason: 'fenced' }, TAKEN_OVER, internal)
}

/** @param otherMs the identity provider's clock when it judged, as it reported */
export function clocksDiffer(otherMs: number, nowMs: number): FailedOutcome {
  const apartMs = otherMs - nowMs
  const apart = `${(Math.abs(apartMs) / 1_000).toFixed(1)} s ${apartMs > 0 ? 'ahead of' : 'behind'}`
  return {
    ok: false,
    reason: 'UNAVAILABLE',
    detail: `CLOCK: the identity provider's clock is ${apart} the wallet service's`,
    explanation: `The clocks of the wallet service and the identity provider differ: the identity provider's is ${apart} the service's. Nothing was signed; an operator has to set the clock that is wrong.`,
  }
}

/** @param extra the data of the code: the approval that holds the nonce, or what is frozen */
export function failed(code: RefusalCode, extra?: Uint8Array): FailedOutcome {
  if (code === 'NONCE_TAKEN' && extra !== undefined) {
    return { ok: false, reason: 'NONCE_TAKEN', takenBy: Uint8Array.from(extra), detail: code }
  }
  if (code === 'FROZEN') return { ok: false, reason: 'FROZEN', detail: code, ...frozenOf(extra) }
  if (code === 'FENCED') {
    return { ok: false, reason: 'UNAVAILABLE', detail: code, explanation: TAKEN_OVER }
  }
  if (code === 'APPROVAL_MISSING') return { ok: false, reason: 'UNAPPROVED', detail: code }
  const reason: SignRefusal = TRANSIENT.has(code) ? 'UNAVAILABLE' : 'REFUSED'
  return { ok: false, reason, detail: code }
}

/** Decodes the identity provider's `Frozen`: one byte for the scope and eight for the time. */
function frozenOf(extra: Uint8Array | undefined): Pick<FailedOutcome, 'frozen'> {
  if (extra?.length !== 9) return {}
  const reader = new ByteReader(extra)
  const number = reader.u8()
  const scopes = Object.keys(FREEZE_SCOPES) as (keyof typeof FREEZE_SCOPES)[]
  const scope = scopes.find((name) => FREEZE_SCOPES[name] === number)
  return scope === undefined ? {} : { frozen: { scope, sinceMs: reader.u64() } }
}

export function unavailable(detail: string): FailedOutcome {
  return { ok: false, reason: 'UNAVAILABLE', detail }
}
