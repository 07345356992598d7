import { createHash, randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  JournalMisuse,
  JournalUnavailable,
  type NewSnapshot,
  SnapshotIncomplete,
  SWEPT_MAX,
} from '../../src/journal/journal.js'
import type { Asking } from '../../src/journal/restate-ingresses.js'
import { createRestateJournal } from '../../src/journal/restate-journal.js'
import { PIECE_BYTES } from '../../src/journal/restate-state.js'
import { drawClaim } from './races.js'
import { createTwin, type Twin } from './restate-twin.js'

const PARTITION = 0
const text = (value: string) => Buffer.from(value)

/** A partition with one entry, and who owns it. @param around what it asks with */
async function opened(around: (asking: Asking) => Asking = (asking) => asking) {
  const key = randomBytes(32)
  const twin = createTwin(key)
  const journal = createRestateJournal(key, around(twin.asking))
  const { epoch } = await journal.acquire(PARTITION, 'one', drawClaim())
  await journal.append({ partition: PARTITION, epoch, seq: 1 }, text('entry'))
  const { snapshots } = journal
  if (snapshots === undefined) throw new Error('it keeps no snapshots')
  const put = (id: string, index: number, body: Uint8Array) =>
    snapshots.put({ partition: PARTITION, epoch, id, index }, body)
  const of = (id: string, chunks: number): NewSnapshot => ({
    ...{ partition: PARTITION, epoch, id, seq: 1, chunks, atMs: 1 },
  })
  return { key, twin, journal, snapshots, epoch, put, of }
}

const keysOf = (twin: Twin, id: string) => [...twin.valuesOf(`${PARTITION}.${id}`).keys()]
const othersOf = (twin: Twin) =>
  JSON.parse(Buffer.from(twin.valuesOf(String(PARTITION)).get('snapshots') ?? []).toString()).others

describe('a handler of a snapshot that Restate gives up amid its changes', () => {
  test('has put no chunk, whatever it wrote of it', async () => {
    const { twin, snapshots, put, of } = await opened()
    const body = randomBytes(2 * PIECE_BYTES + 1)
    for (let after = 0; after < 4; after++) {
      // That its partition knows of it is asked for before.
      await put('one', 0, text('first')).catch(() => undefined)
      twin.givesUpAfter = after
      await expect(put('one', 1, body)).rejects.toThrow(JournalUnavailable)
      twin.givesUpAfter = null
      await expect(snapshots.publish(of('one', 2))).rejects.toThrow(SnapshotIncomplete)
    }
    await put('one', 1, text('shorter'))
    await snapshots.publish(of('one', 2))
    expect((await snapshots.readHead(PARTITION)).newest).toMatchObject({ chunks: 2, bytes: 12 })
    expect(Buffer.from(await snapshots.read(PARTITION, 'one', 1)).toString()).toBe('shorter')
  })

  test('has published nothing, or all of it', async () => {
    const { twin, snapshots, put, of } = await opened()
    await put('one', 0, text('one'))
    await snapshots.publish(of('one', 1))
    await put('two', 0, text('two'))
    twin.givesUpAfter = 0
    await expect(snapshots.publish(of('two', 1))).rejects.toThrow(JournalUnavailable)
    twin.givesUpAfter = null
    expect((await snapshots.readHead(PARTITION)).newest).toMatchObject({ id: 'one' })
    expect(Buffer.from(await snapshots.read(PARTITION, 'one', 0)).toString()).toBe('one')
  })

  test('leaves what it had cleared of it to be swept again, until nothing is left', async () => {
    const { twin, snapshots, epoch, put, of } = await opened()
    const chunks = SWEPT_MAX + 2
    for (let index = 0; index < chunks; index++) {
      await put('old', index, randomBytes(PIECE_BYTES + 1))
    }
    // And what a putting that was given up has written.
    twin.givesUpAfter = 2
    await put('old', chunks, randomBytes(PIECE_BYTES + 1)).catch(() => undefined)
    twin.givesUpAfter = null
    await put('new', 0, text('new'))
    await snapshots.publish(of('new', 1))
    // With the first change it is condemned.
    for (let after = 1; after < 40; after++) {
      twin.givesUpAfter = after
      await snapshots.sweep(PARTITION, epoch).catch(() => undefined)
      twin.givesUpAfter = null
      await expect(snapshots.publish(of('old', chunks))).rejects.toThrow(SnapshotIncomplete)
    }
    expect(await snapshots.sweep(PARTITION, epoch)).toBe(0)
    expect(keysOf(twin, 'old')).toEqual(['head'])
    expect(othersOf(twin)).toEqual([])
    expect(Buffer.from(await snapshots.read(PARTITION, 'new', 0)).toString()).toBe('new')
  })
})

describe('a snapshot whose sweeping and publishing race', () => {
  /** Two snapshots, of which one is there, and what is done before the first request of a kind. */
  async function racing(operation: string) {
    let meanwhile: (() => Promise<unknown>) | null = null
    const own = await opened((asking) => ({
      ...asking,
      async ask(question, use) {
        const turn = question.operation === operation ? meanwhile : null
        if (turn !== null) meanwhile = null
        await turn?.()
        return asking.ask(question, use)
      },
    }))
    await own.put('one', 0, text('one'))
    await own.snapshots.publish(own.of('one', 1))
    await own.put('two', 0, text('two'))
    const other = createRestateJournal(own.key, own.twin.asking).snapshots
    if (other === undefined) throw new Error('it keeps no snapshots')
    return {
      ...{ ...own, other },
      first(turn: () => Promise<unknown>) {
        meanwhile = turn
      },
      async isWhole(id: string): Promise<void> {
        expect((await other.readHead(PARTITION)).newest).toMatchObject({ id })
        expect(Buffer.from(await other.read(PARTITION, id, 0)).toString()).toBe(id)
      },
    }
  }

  test('is not published where it is swept once its chunks are counted', async () => {
    const { snapshots, other, epoch, of, first, isWhole } = await racing('publish')
    first(async () => expect(await other.sweep(PARTITION, epoch)).toBe(1))
    await expect(snapshots.publish(of('two', 1))).rejects.toThrow(SnapshotIncomplete)
    await isWhole('one')
  })

  test('is not published where it is condemned and not cleared yet', async () => {
    const { snapshots, other, epoch, of, first, isWhole } = await racing('clear')
    first(() => expect(other.publish(of('two', 1))).rejects.toThrow(SnapshotIncomplete))
    expect(await snapshots.sweep(PARTITION, epoch)).toBe(1)
    await isWhole('one')
  })

  test('is not swept where it is published before it is condemned', async () => {
    const { snapshots, other, epoch, of, first, isWhole } = await racing('condemn')
    first(() => other.publish(of('two', 1)))
    expect(await snapshots.sweep(PARTITION, epoch)).toBe(0)
    await isWhole('two')
    expect(await snapshots.sweep(PARTITION, epoch)).toBe(1)
    await isWhole('two')
  })
})

test('a chunk that comes after its snapshot was swept is kept nowhere', async () => {
  const { snapshots, twin, epoch, put, of } = await opened()
  await put('late', 0, text('chunk'))
  await put('new', 0, text('new'))
  await snapshots.publish(of('new', 1))
  expect(await snapshots.sweep(PARTITION, epoch)).toBe(1)
  for (const index of [0, 1]) await put('late', index, text('chunk'))
  expect(keysOf(twin, 'late')).toEqual(['head'])
  await expect(snapshots.publish(of('late', 1))).rejects.toThrow(SnapshotIncomplete)
  expect(await snapshots.sweep(PARTITION, epoch)).toBe(0)
  expect(othersOf(twin)).toEqual([])
})

test('a chunk before which one is missing is refused', async () => {
  const { snapshots, put, of } = await opened()
  await expect(put('one', 1, text('chunk'))).rejects.toThrow(JournalMisuse)
  await expect(snapshots.publish(of('one', 1))).rejects.toThrow(SnapshotIncomplete)
})

test('makings that nobody sweeps are bounded', async () => {
  const { put } = await opened()
  for (let count = 0; count < 256; count++) await put(`making ${count}`, 0, text('chunk'))
  await expect(put('one more', 0, text('chunk'))).rejects.toThrow(JournalMisuse)
  expect(await put('making 7', 1, text('chunk'))).toEqual({ kind: 'stored' })
})

test('a journal that a build without snapshots made is gone on with, and keeps them from then on', async () => {
  const { twin, journal, snapshots, epoch, put, of } = await opened()
  const values = twin.valuesOf(String(PARTITION))
  const head = { epoch, seq: 3, first: 1, cleared: 1, owner: null }
  values.set('head', text(JSON.stringify({ ...head, layout: 1 })))
  const bodies = [1, 2, 3].map((seq) => randomBytes(seq * PIECE_BYTES - 1))
  for (const [index, body] of bodies.entries()) {
    const about = Buffer.alloc(12)
    about.writeBigUInt64BE(BigInt(epoch))
    about.writeUInt32BE(body.length, 8)
    const digest = createHash('sha256').update(body).digest()
    const first = Buffer.concat([about, digest, body.subarray(0, PIECE_BYTES)])
    values.set(`entry/${index + 1}`, first)
    for (let piece = 1; piece * PIECE_BYTES < body.length; piece++) {
      values.set(
        `entry/${index + 1}/${piece}`,
        body.subarray(piece * PIECE_BYTES).subarray(0, PIECE_BYTES),
      )
    }
  }
  const at = { partition: PARTITION, epoch }
  expect(await journal.append({ ...at, seq: 3 }, bodies[2] as Buffer)).toEqual({ kind: 'stored' })
  for (const seq of [4, 5]) await journal.append({ ...at, seq }, text(`entry ${seq}`))
  const found = await journal.read(PARTITION, 0, 10_000_000)
  const wanted = [...bodies, text('entry 4'), text('entry 5')]
  expect(found.map(({ body }) => Buffer.from(body))).toEqual(wanted)
  await put('one', 0, text('chunk'))
  await snapshots.publish({ ...of('one', 1), seq: 4 })
  expect(await snapshots.readHead(PARTITION)).toMatchObject({ newest: { seq: 4 }, tailBytes: 7 })
  await journal.trim(PARTITION, 4)
  expect([...values.keys()].filter((name) => name.startsWith('entry/'))).toEqual([
    ...['entry/4', 'entry/5'],
  ])
  await journal.trim(PARTITION, 6)
  expect((await snapshots.readHead(PARTITION)).tailBytes).toBe(0)
  await journal.append({ ...at, seq: 6 }, text('last'))
  expect((await snapshots.readHead(PARTITION)).tailBytes).toBe(4)
})
