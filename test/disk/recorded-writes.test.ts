import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { IF_EXISTS, type Key, type RootDatabase } from 'lmdb'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openLmdb } from '../../src/disk/lmdb-file.js'
import {
  beginRecording,
  isRecorded,
  openRecorded,
  recordedWritesOf,
  unpackWrite,
  writerInto,
} from '../../src/disk/recorded-writes.js'

let directory: string
const opened: RootDatabase[] = []

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'cs-recorded-'))
})
afterEach(async () => {
  for (const root of opened.splice(0)) await root.close()
  rmSync(directory, { recursive: true, force: true })
})

function options(name: string) {
  return { path: join(directory, name), overlappingSync: false, maxDbs: 16 }
}

function keep(root: RootDatabase): RootDatabase {
  opened.push(root)
  return root
}

function recordedStore(): RootDatabase {
  beginRecording(keep(openLmdb(options('store'))))
  return keep(openRecorded(options('store')))
}

/** Brings all recorded writes of the store to an empty one. */
async function copied(): Promise<RootDatabase> {
  const source = keep(openLmdb(options('store')))
  const target = keep(openLmdb(options('copy')))
  const put = writerInto(target)
  await target.batch(() => {
    for (const { packed } of recordedWritesOf(source, options('store').path).all())
      put(unpackWrite(packed))
  })
  return target
}

const plain = { encoder: { useRecords: false } }

test('each way of writing is recorded, so that another store comes to hold the same', async () => {
  const root = recordedStore()
  const records = root.openDB<object, number>({ name: '01-records', ...plain })
  const binary = root.openDB<Buffer, Buffer>({
    ...{ name: '02-binary', keyEncoding: 'binary', encoding: 'binary' },
  })
  const lists = root.openDB<true, [string, number]>({ name: 'lists' })
  const users = root.openDB<object, string>({ name: 'users' })
  const own = { sealed: Buffer.from('sealed'), at: 1_790_000_000_000, none: null, of: [1, 'two'] }
  await root.batch(() => {
    void records.put(1, own)
    void records.put(2, { gone: true })
    void binary.put(Buffer.from([0, 1]), Buffer.from('value'))
  })
  root.transactionSync(() => {
    void records.remove(2)
    void lists.put(['model', 1.5], true)
    void lists.put(['model', 2.5], true)
  })
  await root.transaction(() => {
    void users.put('user', { email: 'a@example.com', passwordHash: '$argon2' })
  })
  await users.ifNoExists('second', () => void users.put('second', { email: 'b@example.com' }))
  await users.ifNoExists('user', () => void users.put('user', { email: 'never@example.com' }))
  await records.ifVersion(1, IF_EXISTS, () => void records.put(3, { after: 1 }))
  await records.ifVersion(7, IF_EXISTS, () => void records.put(8, { never: true }))
  await records.put(4, { alone: true })
  root.transactionSync(() => lists.clearSync())
  await lists.put(['model', 3.5], true)

  const target = await copied()
  expect([...target.openDB({ name: '01-records', ...plain }).getRange()]).toEqual([
    { key: 1, value: own },
    { key: 3, value: { after: 1 } },
    { key: 4, value: { alone: true } },
  ])
  const raw = target.openDB<Buffer, Buffer>({
    ...{ name: '02-binary', keyEncoding: 'binary', encoding: 'binary' },
  })
  expect(raw.get(Buffer.from([0, 1]))?.toString()).toBe('value')
  expect([...target.openDB({ name: 'lists' }).getKeys()]).toEqual([['model', 3.5]])
  expect([...target.openDB({ name: 'users' }).getRange()]).toEqual([
    { key: 'second', value: { email: 'b@example.com' } },
    { key: 'user', value: { email: 'a@example.com', passwordHash: '$argon2' } },
  ])
})

test('keys of each kind are found again in the copy, each by itself', async () => {
  const root = recordedStore()
  const keys: Key[] = []
  for (let length = 1; length <= 14; length++) {
    keys.push('abcdefghijklmn'.slice(0, length), length, length + 0.5, -length)
    keys.push(['abcdefghijklmn'.slice(0, length), length], [length, 'x', 2 ** 41 + length])
  }
  const records = root.openDB<number, Key>({ name: '01-records', ...plain })
  const bytes = root.openDB<number, Buffer>({ name: '03-bytes', keyEncoding: 'binary', ...plain })
  await root.batch(() => {
    for (const [at, key] of keys.entries()) void records.put(key, at)
    for (let length = 1; length <= 40; length++) void bytes.put(Buffer.alloc(length, 7), length)
  })
  const target = await copied()
  const there = target.openDB<number, Key>({ name: '01-records', ...plain })
  expect(keys.map((key) => there.get(key))).toEqual(keys.map((_, at) => at))
  expect([...there.getKeys()]).toEqual([...records.getKeys()])
  const found = target.openDB<number, Buffer>({
    ...{ name: '03-bytes', keyEncoding: 'binary', ...plain },
  })
  for (let length = 1; length <= 40; length++) {
    expect(found.get(Buffer.alloc(length, 7))).toBe(length)
  }
})

test('of a transaction that was given up nothing is recorded', async () => {
  const root = recordedStore()
  const records = root.openDB<number, number>({ name: '01-records', ...plain })
  const failing = () => {
    void records.put(1, 1)
    throw new Error('given up')
  }
  expect(() => root.transactionSync(failing)).toThrow('given up')
  await records.put(2, 2)
  expect([...records.getKeys()]).toEqual([2])
  expect([...recordedWritesOf(root, options('store').path).all()]).toHaveLength(1)
})

test('writes keep their order where two have the store open, and none gets the number of another', async () => {
  const one = recordedStore()
  const other = keep(openRecorded(options('store')))
  const ofOne = one.openDB<number, number>({ name: '01-records', ...plain })
  const ofOther = other.openDB<number, number>({ name: '01-records', ...plain })
  for (let value = 0; value < 200; value++) {
    const [root, records] = value % 2 === 0 ? [one, ofOne] : [other, ofOther]
    await root.transaction(() => void records.put(1, value))
  }
  const writes = [...recordedWritesOf(one, options('store').path).all()]
  expect(writes).toHaveLength(200)
  expect((await copied()).openDB({ name: '01-records', ...plain }).get(1)).toBe(199)
})

test('what was written last can be taken back, be it on disk by then or on its way', async () => {
  const root = recordedStore()
  const records = root.openDB<number, number>({ name: '01-records', ...plain })
  await records.put(1, 10)
  await records.put(2, 20)
  const undone =
    [...recordedWritesOf(root, options('store').path).all()].map(({ number }) => number).at(-1) ?? 0
  // Of one turn, and of the next before they are on disk.
  const written = [records.put(1, 11), records.put(1, 12), records.remove(2), records.put(3, 30)]
  await new Promise((resolve) => setImmediate(resolve))
  written.push(records.put(1, 13), records.put(2, 21))
  await Promise.all(written)
  await records.put(3, 31)
  const plainRoot = keep(openLmdb(options('store')))
  const put = writerInto(plainRoot)
  const since = [...recordedWritesOf(plainRoot, options('store').path).all()].filter(
    ({ number }) => number > undone,
  )
  await plainRoot.batch(() => {
    for (const { undo } of since.reverse()) put(unpackWrite(undo))
  })
  root.resetReadTxn()
  expect([...records.getRange()].map(({ key, value }) => [key, value])).toEqual([
    [1, 10],
    [2, 20],
  ])
})

test('a store that nobody asked to record is written as before', async () => {
  const root = keep(openRecorded(options('store')))
  await root.openDB<number, number>({ name: '01-records', ...plain }).put(1, 1)
  expect(isRecorded(root)).toBe(false)
})

test('what is written past the record is refused, and not left out of it', () => {
  const records = recordedStore().openDB<number, number>({ name: '01-records', ...plain })
  expect(() => records.putSync(1, 1)).toThrow('only by put and remove')
})
