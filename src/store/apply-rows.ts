import type { Environment } from './environment.js'
import { nameRows } from './name-index.js'
import type { Row } from './rows.js'

/**
 * Writes rows and the matching rows of the name index in one LMDB transaction, so all of them or
 * none. A thread's transactions are queued in the order of these calls, and each sees what the
 * earlier ones wrote. Resolves once the transaction is synced to disk.
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
