import { ALL_PARTITIONS, type Cell, formatPartitions, hasUser } from '../domain/cells.js'
import type { UserId } from '../domain/ids.js'
import { packedRecord } from './encodings/sealing.js'
import type { Environment } from './environment.js'
import { putOf, type Row } from './rows.js'

/**
 * In `meta`: whose users are in a store, which its journal and its snapshots bring along, and which stays where
 * a store leaves its journal or is restored. A store that was never one of several has none.
 */
const STORE_CELL = 'store_cell'

type Spaces = Pick<Environment, 'spaces'>

/** @returns null for a store of all users, as one that was never dealt out */
export function storeCellOf({ spaces }: Spaces): Cell | null {
  const { number, partitions } = Object(spaces.meta.get(STORE_CELL)) as Partial<Cell>
  const isOne = typeof number === 'number' && typeof partitions === 'number'
  return isOne ? { number, partitions } : null
}

export const storeCellRow = ({ number, partitions }: Cell): Row =>
  putOf('meta', STORE_CELL, packedRecord({ number, partitions }))

/** Whether the store does not say yet that it is of that cell. */
export function isUnsaid(environment: Spaces, cell: Cell): boolean {
  const said = storeCellOf(environment)
  if (said === null) return cell.partitions !== ALL_PARTITIONS
  return said.number !== cell.number || said.partitions !== cell.partitions
}

/**
 * So that nobody's users are left behind where cells are dealt out anew: another one would be asked for
 * them, know of none, and begin with nothing. Of a store of all users none may be there, since their keys may
 * be of a build whose secrets do not tell whose they are.
 * @throws Error for a store with a user of another cell
 */
export function requireOwnUsers(environment: Spaces, cell: Cell): void {
  if (!isUnsaid(environment, cell)) return
  const isDealtOut = storeCellOf(environment) !== null
  let last = ''
  for (const key of environment.spaces.walletsByUser.getKeys({})) {
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
    `the store has a user (${userId}) who is not of cell ${cell.number}, which has the partitions ${formatPartitions(cell)} by the journal's file: users stay in the cell in which they began`,
  )
}
