import type { ApiKey } from './api-key.js'
import type { LineageId } from './ids.js'

/** Bounds of the tree of keys that keys make; both domains hold the first. */

/** Keys below the one that a person made: what each of them signs is judged as many times more. */
export const SUB_KEY_DEPTH_MAX = 4
/** Live keys that one key made: a program's helpers, and no more. */
export const SUB_KEYS_MAX = 50

type Placed = Pick<ApiKey, 'lineageId' | 'parentLineageId'>

/** A lineage and those below it: what they spend, and what policies count of it, counts on it. */
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
