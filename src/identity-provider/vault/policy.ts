import { isZero, sameBytes } from '../../quorum-protocol/bytes.js'
import type { Intent } from '../../quorum-protocol/intent.js'
import type { Certificate } from '../../quorum-protocol/keygen.js'
import { ROUTER_DEADLINE_AHEAD_SECONDS_MAX } from '../../quorum-protocol/limits.js'
import type { DecodedPayload } from '../../quorum-protocol/payload.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import type { ChainPins } from '../../quorum-protocol/registry.js'
import { type Ancestor, hasEnded } from './ancestors.js'
import type { GrantView } from './granted.js'
import type { LedgerEntry, LedgerRelation } from './nonce-ledger.js'

/** Pure rules of what the user side approves. */

/**
 * A user's wallet: a key with a grant that covers wallet, chain and trade.
 * @throws Refusal
 */
export function checkGrant(
  intent: Intent,
  payload: DecodedPayload,
  view: (GrantView & { readonly ancestors: readonly Ancestor[] }) | null,
  nowMs: number,
): void {
  if (view === null) throw new Refusal('UNKNOWN_KEY', 'no grant for this key')
  const { key, grant } = view
  if (key.revoked) throw new Refusal('NOT_GRANTED', 'key is revoked')
  if (key.expiresAtMs !== null && key.expiresAtMs <= nowMs) {
    throw new Refusal('NOT_GRANTED', 'key has expired')
  }
  if (!sameBytes(grant.walletId, intent.walletId)) {
    throw new Refusal('NOT_GRANTED', 'key of another wallet')
  }
  if (!sameBytes(key.grantId, intent.grantId) || grant.version !== intent.grantVersion) {
    throw new Refusal('STALE_GRANT', 'grant has changed')
  }
  const { ceiling } = key
  if (grant.permission !== 'trade' || ceiling?.permission === 'read') {
    throw new Refusal('NOT_GRANTED', 'key may only read')
  }
  const { chainId } = payload
  if (
    !grant.allowedChains.includes(chainId) ||
    ceiling?.allowedChains.includes(chainId) === false
  ) {
    throw new Refusal('NOT_GRANTED', 'chain outside the grant')
  }
  for (const above of view.ancestors) checkAbove(above, chainId, nowMs)
}

/** What a key made may do what its maker still may, as long as that lives. */
function checkAbove(above: Ancestor, chainId: number, nowMs: number): void {
  const { permission, allowedChains } = above.grant
  if (hasEnded(above, nowMs)) throw new Refusal('NOT_GRANTED', 'the key that made it has ended')
  if (permission !== 'trade' || !allowedChains.includes(chainId)) {
    throw new Refusal('NOT_GRANTED', 'outside the grant of the key that made it')
  }
}

/**
 * What a user's wallet may sign at all. Type-4 transactions are the gas wallet's: an account that
 * could send its own would pay gas it is not asked to hold.
 * @throws Refusal PAYLOAD_NOT_ALLOWED or EXPIRED
 */
export function checkUserPayload(
  payload: DecodedPayload,
  walletAddress: Uint8Array,
  nowMs: number,
): void {
  if (payload.kind === 'transaction' && payload.envelope === 4) {
    throw new Refusal('PAYLOAD_NOT_ALLOWED', 'type-4 transaction of a user wallet')
  }
  if (payload.kind !== 'router-intent') return
  if (!sameBytes(payload.account, walletAddress)) {
    throw new Refusal('PAYLOAD_NOT_ALLOWED', 'router intent for another account')
  }
  const nowSeconds = nowMs / 1_000
  if (
    payload.deadlineSeconds < nowSeconds ||
    payload.deadlineSeconds > nowSeconds + ROUTER_DEADLINE_AHEAD_SECONDS_MAX
  ) {
    throw new Refusal('EXPIRED', 'router intent deadline')
  }
}

/**
 * The service grant: a gas wallet calls the Router, or carries authorizations in a type-4
 * transaction, and never moves value.
 * @throws Refusal PAYLOAD_NOT_ALLOWED
 */
export function checkServicePayload(
  intent: Intent,
  payload: DecodedPayload,
  pins: ChainPins | undefined,
): void {
  if (!isZero(intent.keyId) || payload.kind !== 'transaction' || payload.value !== 0n) {
    throw new Refusal('PAYLOAD_NOT_ALLOWED', 'outside the service grant')
  }
  const router = pins?.router ?? null
  const callsRouter = router !== null && sameBytes(payload.to, router)
  const onlyDelegates = payload.envelope === 4 && payload.data.length === 0
  if (!callsRouter && !onlyDelegates) {
    throw new Refusal('PAYLOAD_NOT_ALLOWED', 'outside the service grant')
  }
}

/**
 * Whether it ends the delegation of an account that nobody uses: no key asks for that. It takes a
 * power away and moves nothing; where a nonce holds something, it takes the place of nothing.
 */
export function endsDelegation(
  { keyId }: Intent,
  payload: DecodedPayload,
  held: LedgerEntry | null,
): boolean {
  const isFree = held === null && isZero(keyId)
  return isFree && payload.kind === 'authorization' && isZero(payload.delegate)
}

/** Whether a fresh approval needs the key and its proof; replays of old decisions do not. */
export function needsGrant(relation: LedgerRelation, kind: Certificate['kind']): boolean {
  return kind === 'user' && relation === 'new'
}

/**
 * Whether it only takes the place of what was approved at that nonce before, which goes on while its
 * wallet is frozen: the same call at higher fees, or a cancel. The same bytes once more are not a
 * replacement: they would sign what was approved, and perhaps never signed.
 */
export function isReplacement(
  relation: LedgerRelation,
  held: LedgerEntry | null,
  cancels: boolean,
): boolean {
  return relation === 'fee-bump' || (cancels && held !== null)
}
