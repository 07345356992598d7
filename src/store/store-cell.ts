import { ALL_PARTITIONS, type Cell, formatPartitions, hasUser } from '../domain/cells.js'
import type { UserId } from '../domain/ids.js'
import { packedRecord } from './encodings/sealing.js'
import type { Environment } from './environment.js'
import { putOf, type Row } from './rows.js'

/**
 * The key in `meta` of the cell whose users are in a store. The journal and its snapshots carry it,
 * and it stays if a store is detached from its journal or restored. A store that never was one of
 * several cells has none.
 */
const STORE_CELL = 'store_cell'

type Spaces = Pick<Environment, 'spaces'>

/** @returns null for a store of all users, such as one that was never divided into cells */
export function storeCellOf({ spaces }: Spaces): Cell | null {
  const { number, partitions } = Object(spaces.meta.get(STORE_CELL)) as Partial<Cell>
  const isOne = typeof number === 'number' && typeof partitions === 'number'
  return isOne ? { number, partitions } : null
}

export const storeCellRow = ({ number, partitions }: Cell): Row =>
  putOf('meta', STORE_CELL, packedRecord({ number, partitions }))

/** Whether the store does not record yet that it belongs to that cell. */
export function isUnsaid(environment: Spaces, cell: Cell): boolean {
  const said = storeCellOf(environment)
  if (said === null) return cell.partitions !== ALL_PARTITIONS
  return said.number !== cell.number || said.partitions !== cell.partitions
}

/**
 * Prevents users from being left behind when partitions are assigned to other cells: the new cell
 * would be asked for them, not know them, and begin with nothing. A store of all users must be
 * empty, because older builds made keys whose secrets do not name their partition.
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
    `the store already has users and was begun as the only cell, so it cannot become cell ${number} of several. Remove the cells from the journal file; cells must be set up before there are users`,
  )
}

function anothers(userId: UserId, cell: Cell): Error {
  return new Error(
    `the store has a user (${userId}) outside cell ${cell.number}, to which the journal file assigns the partitions ${formatPartitions(cell)}. Users stay in the cell in which they began; restore the earlier assignment in the file`,
  )
}
