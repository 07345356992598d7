import type { Environment } from './environment.js'
import { nameRows } from './name-index.js'
import type { Row } from './rows.js'

/**
 * Writes rows in one LMDB transaction, with those of the index of names: all of them or none.
 * Transactions of a thread are queued in the order of these calls, and what one of them follows is in
 * the store before it is made. Resolves once it is synced to disk.
 */
export async function applyRows(
  environment: Pick<Environment, 'root' | 'spaces'>,
  rows: readonly Row[],
): Promise<void> {
  const { root, spaces } = environment
  const ofNames = nameRows(environment, rows)
  await root.batch(() => {
    for (const [space, key, value] of rows) put(space, key, value)
    for (const [space, key, value] of ofNames) put(space, key, value)
  })

  function put(...[space, key, value]: Row): void {
    if (value === null) void spaces[space].remove(key)
    else void spaces[space].put(key, value)
  }
}
