import {
  type ApiKey,
  keyExpiresAtMs,
  keyStatus,
  mayStillBeUsed,
} from '../../../src/domain/api-key.js'
import type { KeyId, LineageId } from '../../../src/domain/ids.js'

/**
 * Records which key made which: a key may do only what every key above it may still do, and its
 * spend counts on each of them. The nodes are lineages, so a rotation changes nothing in the tree,
 * and a lineage never moves.
 */
interface KeyTree {
  readonly keys: ReadonlyMap<KeyId, ApiKey>
  /** The parents of lineages that a key made; absent for those that the user made. */
  readonly parents: ReadonlyMap<LineageId, LineageId>
  /** The newest key of each lineage; its predecessors may do at most what it may. */
  readonly heads: ReadonlyMap<LineageId, ApiKey>
}

/** The mutable form, which the state folds in place. */
interface KeyTreeState extends KeyTree {
  readonly keys: Map<KeyId, ApiKey>
  readonly parents: Map<LineageId, LineageId>
  readonly heads: Map<LineageId, ApiKey>
}

const NONE: readonly ApiKey[] = []

/** Adds a key to the tree in the form that is stored. */
export function foldKey({ keys, parents, heads }: KeyTreeState, key: ApiKey): void {
  const { keyId, lineageId, parentLineageId, rotatedAtMs } = key
  keys.set(keyId, key)
  if (rotatedAtMs === null) heads.set(lineageId, key)
  if (parentLineageId !== undefined) parents.set(lineageId, parentLineageId)
}

/** The newest keys of the lineages above, nearest first; empty for most lineages. */
export function ancestorsOf({ parents, heads }: KeyTree, lineageId: LineageId): readonly ApiKey[] {
  let above = parents.get(lineageId)
  if (above === undefined) return NONE
  const found: ApiKey[] = []
  while (above !== undefined) {
    const head = heads.get(above)
    if (head === undefined) throw new Error(`${above} has no key`)
    found.push(head)
    above = parents.get(above)
  }
  return found
}

/** Whether the key or one above it has ended: ending a key ends those that it made. */
export function hasKeyEnded(tree: KeyTree, keyId: KeyId, nowMs: number): boolean {
  const key = tree.keys.get(keyId)
  if (key === undefined || keyStatus(key, nowMs) === 'revoked') return true
  return ancestorsOf(tree, key.lineageId).some((above) => keyStatus(above, nowMs) === 'revoked')
}

/** When the key ends by time; infinity when it never does. */
export function keyEndsAtMs(tree: KeyTree, keyId: KeyId): number {
  const key = tree.keys.get(keyId)
  if (key === undefined) return Number.NEGATIVE_INFINITY
  let endsAtMs = keyExpiresAtMs(key) ?? Number.POSITIVE_INFINITY
  for (const above of ancestorsOf(tree, key.lineageId)) {
    endsAtMs = Math.min(endsAtMs, keyExpiresAtMs(above) ?? Number.POSITIVE_INFINITY)
  }
  return endsAtMs
}

/** The number of live lineages that keys made: in all, and by this lineage. */
export function countSubKeys(
  { parents, heads }: KeyTree,
  lineageId: LineageId,
  nowMs: number,
): { readonly all: number; readonly own: number } {
  let all = 0
  let own = 0
  for (const [child, parent] of parents) {
    const head = heads.get(child)
    if (head === undefined || keyStatus(head, nowMs) === 'revoked') continue
    all++
    if (parent === lineageId) own++
  }
  return { all, own }
}

/** The number of lineages that keys made since then, including those that have ended. */
export function countMadeByKeys({ keys, parents }: KeyTree, sinceMs: number): number {
  if (parents.size === 0) return 0
  let count = 0
  for (const { parentLineageId, rotatedFrom, createdAtMs } of keys.values()) {
    if (parentLineageId !== undefined && rotatedFrom === null && createdAtMs > sinceMs) count++
  }
  return count
}

/** Keys below a lineage that may still be used, in the order in which they were made. */
export function liveDescendants(tree: KeyTree, lineageId: LineageId, nowMs: number): ApiKey[] {
  if (tree.parents.size === 0) return []
  return [...tree.keys.values()].filter(
    (key) => isBelow(tree, key.lineageId, lineageId) && mayStillBeUsed(key, nowMs),
  )
}

/** Whether the spend of `lineageId` counts on `above`, which may be the same lineage. */
export function countsOn(tree: KeyTree, lineageId: LineageId, above: LineageId): boolean {
  return lineageId === above || isBelow(tree, lineageId, above)
}

function isBelow({ parents }: KeyTree, lineageId: LineageId, above: LineageId): boolean {
  for (let at = parents.get(lineageId); at !== undefined; at = parents.get(at)) {
    if (at === above) return true
  }
  return false
}
