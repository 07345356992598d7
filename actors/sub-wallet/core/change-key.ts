import { type ApiKey, mayStillBeUsed } from '../../../src/domain/api-key.js'
import { narrowedTo } from '../../../src/domain/grant-terms.js'
import type { LineageId } from '../../../src/domain/ids.js'
import { canonicalText } from '../../../src/policy/canonical-policy.js'
import type { Claimed } from './grant-messages.js'
import type { Event } from './messages.js'
import type { Turn } from './turn.js'

export type KeyChange = Pick<
  Extract<Event, { type: 'key-put' }>,
  'change' | 'requestId' | 'byPerson' | 'atMs'
>

/** Emits the key's new form and invalidates caches of its secret. */
export function putKey(turn: Turn, key: ApiKey, change: KeyChange): void {
  turn.emit({ type: 'key-put', key, ...change })
  turn.effect({ type: 'key-changed', secretHash: key.secretHash })
}

/** Changes the key and notifies the identity provider until it acknowledges. */
export function putKeyAndGrant(turn: Turn, key: ApiKey, change: KeyChange): void {
  putKey(turn, key, change)
  openGrantOf(turn, key)
}

/** Narrows the predecessors of a key to what the key itself may do. */
export function narrowPredecessors(turn: Turn, key: ApiKey, change: KeyChange): void {
  for (const before of predecessors(turn, key, change.atMs)) {
    const narrowed = narrowedTo(before, key)
    if (narrowed !== before) {
      putKeyAndGrant(turn, withPolicyVersion(before, narrowed), change)
    }
  }
}

/** Increments the policy version when the policy has changed. */
export function withPolicyVersion(before: ApiKey, next: ApiKey): ApiKey {
  if (textOf(before.policy) === textOf(next.policy)) return next
  return { ...next, policyVersion: (before.policyVersion ?? 0) + 1 }
}

function textOf(policy: ApiKey['policy']): string | null {
  return policy === null ? null : canonicalText(policy)
}

/** Predecessors that may still be used, newest first. */
export function predecessors({ state }: Turn, key: ApiKey, nowMs: number): ApiKey[] {
  const found: ApiKey[] = []
  let { rotatedFrom } = key
  while (rotatedFrom !== null) {
    const before = state.keys.get(rotatedFrom)
    if (before === undefined) break
    if (mayStillBeUsed(before, nowMs)) found.push(before)
    rotatedFrom = before.rotatedFrom
  }
  return found
}

/** Queues a notification to the identity provider of what the key may do now. */
export function openGrantOf(turn: Turn, { keyId, lineageId, parentLineageId }: ApiKey): void {
  // A pending patch may still be accepted by the identity provider, so it is kept.
  const patch = turn.state.grants.byKey.get(keyId)?.change.asked ?? null
  openChange(turn, { keyId, rotatedFrom: null, patch }, lineageId, null, parentLineageId)
}

export function openChange(
  turn: Turn,
  { keyId, rotatedFrom, patch }: Claimed,
  lineageId: LineageId,
  claimId: string | null,
  parentLineageId = turn.state.parents.get(lineageId),
): void {
  const version = turn.state.grants.lastVersion + 1
  const parent = parentLineageId === undefined ? {} : { parentLineageId }
  const change = { keyId, lineageId, ...parent, version, rotatedFrom, asked: patch }
  turn.emit({ type: 'grant-opened', change, claimId })
}
