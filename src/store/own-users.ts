import { type Cell, formatPartitions, hasUser } from '../domain/cells.js'
import type { UserId } from '../domain/ids.js'
import type { Environment } from './environment.js'

/**
 * So that nobody's users are left behind where cells are dealt out anew: another one would be asked for
 * them, know of none, and begin with nothing. Looked for only where the store was another cell's before.
 * @throws Error for a store with a user of another one
 */
export function requireOwnUsers(
  { spaces }: Pick<Environment, 'spaces'>,
  before: Cell,
  cell: Cell,
): void {
  if (before.partitions === cell.partitions) return
  let last = ''
  for (const key of spaces.walletsByUser.getKeys({})) {
    const [userId] = key as [UserId, string]
    if (userId !== last && !hasUser(cell, userId)) {
      throw new Error(
        `the store has a user (${userId}) who is not of cell ${cell.number}, which has the partitions ${formatPartitions(cell)}: cells are dealt out once, and users stay where they are`,
      )
    }
    last = userId
  }
}
