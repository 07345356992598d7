import { isZero, sameBytes } from '../../quorum-protocol/bytes.js'
import { type Intent, usesGrant } from '../../quorum-protocol/intent.js'
import type { Certificate } from '../../quorum-protocol/keygen.js'
import { ROUTER_DEADLINE_AHEAD_SECONDS_MAX } from '../../quorum-protocol/limits.js'
import type { DecodedPayload } from '../../quorum-protocol/payload.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import type { ChainPins } from '../../quorum-protocol/registry.js'
import { type Ancestor, hasEnded } from './ancestors.js'
import type { GrantView } from './granted.js'
import type { LedgerEntry, LedgerRelation } from './nonce-ledger.js'

/** Pure rules for what the identity provider approves. */

/**
 * Checks that a key of a user's wallet has a grant that covers wallet, chain and trade.
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

/** A key made by a key may do only what its maker may still do, and only while the maker lives. */
function checkAbove(above: Ancestor, chainId: number, nowMs: number): void {
  const { permission, allowedChains } = above.grant
  if (hasEnded(above, nowMs)) throw new Refusal('NOT_GRANTED', 'the key that made it has ended')
  if (permission !== 'trade' || !allowedChains.includes(chainId)) {
    throw new Refusal('NOT_GRANTED', 'outside the grant of the key that made it')
  }
}

/**
 * Checks what a user's wallet may sign at all. Only gas wallets sign type-4 transactions: an
 * account that could send its own would pay gas that it is not meant to hold.
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
 * Checks the service grant: a gas wallet calls the Router, or carries authorizations in a type-4
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
 * Tells whether it ends the delegation of an unused account, which no key requests. It removes a
 * power and moves nothing; it never replaces what holds a nonce.
 */
export function endsDelegation(
  intent: Intent,
  payload: DecodedPayload,
  held: LedgerEntry | null,
): boolean {
  const isFree = held === null && isZero(intent.keyId) && !usesGrant(intent)
  return isFree && payload.kind === 'authorization' && isZero(payload.delegate)
}

/** Tells whether a new approval needs the key and its proof; repeated decisions do not. */
export function needsGrant(relation: LedgerRelation, kind: Certificate['kind']): boolean {
  return kind === 'user' && relation === 'new'
}

/**
 * Tells whether it only replaces what was approved at that nonce before, which continues while the
 * wallet is frozen: the same call with higher fees, or a cancel. The same bytes again are not a
 * replacement: they would sign what was approved but perhaps never signed.
 */
export function isReplacement(
  relation: LedgerRelation,
  held: LedgerEntry | null,
  cancels: boolean,
): boolean {
  return relation === 'fee-bump' || (cancels && held !== null)
}
