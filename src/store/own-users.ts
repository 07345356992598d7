import { ALL_PARTITIONS, type Cell, formatPartitions, hasUser } from '../domain/cells.js'
import type { UserId } from '../domain/ids.js'
import type { Environment } from './environment.js'

/**
 * So that nobody's users are left behind where cells are dealt out anew: another one would be asked for
 * them, know of none, and begin with nothing. Of a store of all users none may be there, since their keys may
 * be of a build whose secrets do not tell whose they are.
 * @throws Error for a store with a user of another one
 */
export function requireOwnUsers(
  { spaces }: Pick<Environment, 'spaces'>,
  before: Cell,
  cell: Cell,
): void {
  if (before.partitions === cell.partitions) return
  const isDealtOut = before.partitions !== ALL_PARTITIONS
  let last = ''
  for (const key of spaces.walletsByUser.getKeys({})) {
    const [userId] = key as [UserId, string]
    if (!isDealtOut) throw notDealtOut(cell)
    if (userId !== last && !hasUser(cell, userId)) throw anothers(userId, cell)
    last = userId
  }
}

function notDealtOut({ number }: Cell): Error {
  return new Error(
    `the store has users, and was begun for all there are: it cannot be cell ${number} of several, which are dealt out before there are users. Name no cells in the journal's file`,
  )
}

function anothers(userId: UserId, cell: Cell): Error {
  return new Error(
    `the store has a user (${userId}) who is not of cell ${cell.number}, which has the partitions ${formatPartitions(cell)}: users stay in the cell in which they began`,
  )
}
