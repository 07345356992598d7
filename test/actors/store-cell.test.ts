import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ALL_PARTITIONS, type Cell, hasUser, ONE_CELL } from '../../src/domain/cells.js'
import type { UserId } from '../../src/domain/ids.js'
import { applyRows } from '../../src/store/apply-rows.js'
import { packedRecord } from '../../src/store/encodings/sealing.js'
import { type Environment, openEnvironment } from '../../src/store/environment.js'
import { NO_POSITION } from '../../src/store/follow-journal.js'
import { leaveJournal, positionRow } from '../../src/store/journal-position.js'
import { putOf } from '../../src/store/rows.js'
import { requireOwnUsers, storeCellRow } from '../../src/store/store-cell.js'

const HALF = { number: 0, partitions: 2 ** 12 - 1 }
const OTHER = { number: 1, partitions: ALL_PARTITIONS - HALF.partitions }
const LESS = { number: 0, partitions: 1 }

let directory: string
let environment: Environment
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'cs-own-users-'))
  environment = openEnvironment(directory)
})
afterEach(async () => {
  await environment.root.close()
  rmSync(directory, { recursive: true, force: true })
})

const usersOf = (cell: Cell) =>
  Array.from({ length: 60 }, (_, n) => `user-${n}` as UserId).filter((it) => hasUser(cell, it))

async function put(userIds: readonly UserId[]): Promise<void> {
  const rows = userIds.map((userId) => putOf('walletsByUser', [userId, 'w'], packedRecord(1)))
  await applyRows(environment, rows)
}

async function begunAs(cell: Cell): Promise<void> {
  await applyRows(environment, [storeCellRow(cell)])
}

test('a store without users may be any cell’s', () => {
  for (const cell of [ONE_CELL, HALF, OTHER]) requireOwnUsers(environment, cell)
})

test('a store of all users is no cell of several, whoever they are', async () => {
  await put(usersOf(HALF).slice(0, 1))
  expect(() => requireOwnUsers(environment, HALF)).toThrow('before there are users')
  requireOwnUsers(environment, ONE_CELL)
})

test('a cell that is dealt out again keeps whoever it has', async () => {
  await begunAs(HALF)
  await put(usersOf(HALF))
  requireOwnUsers(environment, HALF)
  requireOwnUsers(environment, ONE_CELL)
  expect(() => requireOwnUsers(environment, OTHER)).toThrow('Users stay')
  expect(() => requireOwnUsers(environment, LESS)).toThrow('Users stay')
})

test('a cell that leaves its journal is still that cell', async () => {
  await begunAs(HALF)
  await put(usersOf(HALF))
  await applyRows(environment, [positionRow({ ...NO_POSITION, storeId: '0a'.repeat(16) })])
  expect(await leaveJournal(environment)).toBe(true)
  requireOwnUsers(environment, HALF)
  expect(() => requireOwnUsers(environment, OTHER)).toThrow('Users stay')
})
