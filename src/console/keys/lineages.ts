import type { Spend } from '../queries.js'

/**
 * Keys of one line of rotations share what is counted: the newest is shown for all. One that was revoked
 * has spent what it spent.
 */
export function onePerLineage(keys: readonly Spend[]): Spend[] {
  const seen = new Set<string>()
  return keys.filter(({ lineage_id }) => {
    if (seen.has(lineage_id)) return false
    seen.add(lineage_id)
    return true
  })
}
