import type { ApiKey } from './api-key.js'
import type { LineageId } from './ids.js'

/** Bounds of the tree of keys that keys make; both domains enforce the first. */

/** Levels below the key that a person made; each signature is judged once per level. */
export const SUB_KEY_DEPTH_MAX = 4
/** Live keys that one key made: enough for a program's helpers. */
export const SUB_KEYS_MAX = 50
/**
 * Live keys of a sub-wallet that its keys made. Below the limit on all keys, so that the owner can
 * always rotate one and make another.
 */
export const LIVE_SUB_KEYS_MAX = 400
/**
 * Keys of a sub-wallet that its keys made within `SUB_KEYS_WINDOW_MS`, including ended ones: each
 * is kept, and revoking its maker revokes it again while a clock that steps back could revive it.
 */
export const SUB_KEYS_IN_WINDOW_MAX = 1_000
export const SUB_KEYS_WINDOW_MS = 7 * 86_400_000

type Placed = Pick<ApiKey, 'lineageId' | 'parentLineageId'>

/** A lineage and those below it: their spend and their counted units count on it. */
export function lineagesOn(keys: Iterable<Placed>, lineageId: LineageId): ReadonlySet<LineageId> {
  const parents = new Map<LineageId, LineageId>()
  for (const key of keys) {
    if (key.parentLineageId !== undefined) parents.set(key.lineageId, key.parentLineageId)
  }
  const found = new Set([lineageId])
  for (const below of parents.keys()) {
    for (let at = parents.get(below); at !== undefined; at = parents.get(at)) {
      if (at === lineageId) found.add(below)
    }
  }
  return found
}
