import { expect, onTestFinished, test } from 'vitest'
import { systemTimers } from '../../src/clock/timers.js'
import { ALL_PARTITIONS, type Cell, hasUser, ONE_CELL } from '../../src/domain/cells.js'
import type { UserId } from '../../src/domain/ids.js'
import { createMemoryEngine, type MemoryEngine } from '../../src/journal/memory-journal.js'
import { packedRecord } from '../../src/store/encodings/sealing.js'
import { openEnvironment } from '../../src/store/environment.js'
import { openJournaledStore } from '../../src/store/journaled-store.js'
import { putOf } from '../../src/store/rows.js'
import { encodeRows } from '../../src/store/rows-encoding.js'
import { storeCellOf } from '../../src/store/store-cell.js'
import { log, newDirectory } from './journaled-fixtures.js'

const HALF: Cell = { number: 0, partitions: 2 ** 12 - 1 }
const LESS: Cell = { number: 0, partitions: 2 ** 11 - 1 }
const LAST = { number: 0, partitions: 2 ** 11 }
const OTHER: Cell = { number: 0, partitions: ALL_PARTITIONS - HALF.partitions }

const userOf = (cell: Cell): UserId => {
  const users = Array.from({ length: 500 }, (_, n) => `user-${n}` as UserId)
  const found = users.find((it) => hasUser(cell, it))
  if (found === undefined) throw new Error('no user')
  return found
}

/** An empty store at a machine of its own, which takes the journal. */
async function startAs(engine: MemoryEngine, cell: Cell) {
  const environment = openEnvironment(newDirectory())
  onTestFinished(() => environment.root.close())
  const writer = await openJournaledStore({
    ...{ environment, journal: engine.connect(), node: 'test', timers: systemTimers(), log, cell },
    ...{ overtakes: null, fatal: () => undefined },
  })
  const put = (userId: UserId) =>
    writer.commit(encodeRows([putOf('walletsByUser', [userId, 'w'], packedRecord(1))]))
  return { environment, put }
}

test('a store that comes back from its journal is of the cell that it was', async () => {
  const engine = createMemoryEngine()
  const first = await startAs(engine, HALF)
  await first.put(userOf(HALF))
  const { environment } = await startAs(engine, HALF)
  expect(storeCellOf(environment)).toEqual(HALF)
})

test('one whose file names fewer users than its journal has ends', async () => {
  const engine = createMemoryEngine()
  const first = await startAs(engine, HALF)
  await first.put(userOf(LAST))
  await expect(startAs(engine, LESS)).rejects.toThrow('Users stay')
  await expect(startAs(engine, OTHER)).rejects.toThrow('Users stay')
})

test('a journal of all users is no cell’s, whoever they are', async () => {
  const engine = createMemoryEngine()
  const first = await startAs(engine, ONE_CELL)
  await first.put(userOf(HALF))
  await expect(startAs(engine, HALF)).rejects.toThrow('before there are users')
  expect(storeCellOf(first.environment)).toBeNull()
})
