import { join } from 'node:path'
import { hasUser, parsePartitions } from '../src/domain/cells.js'
import { createUser } from '../src/identity-provider/login/create-user.js'

const MADE_MAX = 500

/**
 * Creates accounts until each cell has one, because the cell of an account is random.
 * @param cells as the journal file names them
 * @returns the email of one account of each cell
 */
export async function accountsOfCells(
  home: string,
  cells: readonly string[],
  name: string,
  password: string,
): Promise<readonly string[]> {
  const all = cells.map((text, number) => ({ number, partitions: parsePartitions(text) ?? 0 }))
  const emails = new Map<number, string>()
  for (let made = 0; emails.size < cells.length; made++) {
    if (made === MADE_MAX) throw new Error('no account of some cell')
    const email = `${name}-${made}@example.test`
    const { userId } = await createUser(join(home, 'identity-provider'), email, password)
    const cell = all.find((each) => hasUser(each, userId))
    if (cell !== undefined && !emails.has(cell.number)) emails.set(cell.number, email)
  }
  return all.map(({ number }) => emails.get(number) ?? '')
}
