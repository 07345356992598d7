import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  BODY_BYTES_MAX,
  CHUNKS_MAX,
  type Journal,
  JournalMisuse,
  type NewSnapshot,
  SNAPSHOT_ID_CHARS_MAX,
  SnapshotGone,
  SnapshotIncomplete,
  SnapshotOvertaken,
  type Snapshots,
  SWEPT_MAX,
} from '../../src/journal/journal.js'
import type { Engine } from './conformance.js'
import { drawClaim } from './races.js'

/** Beyond those that tests of the journal take in the same engine. */
const PARTITIONS_FROM = 100_000
const AT_MS = 1_764_000_000_000
const text = (value: string) => Buffer.from(value)
const textOf = (body: Uint8Array) => Buffer.from(body).toString()

/** What the port says of snapshots, asked of an adapter that has them. */
export function describeSnapshots(name: string, open: () => Promise<Engine>): void {
  describe(name, () => {
    let engine: Engine
    let one: Journal
    let other: Journal
    let lastPartition = PARTITIONS_FROM

    beforeAll(async () => {
      engine = await open()
      one = await engine.connect()
      other = await engine.connect()
    })
    afterAll(async () => {
      await Promise.all([one?.close(), other?.close()])
      await engine?.close()
    })

    /** A partition with entries, and who keeps its snapshots. */
    async function prepared(entries: number) {
      const partition = ++lastPartition
      const { epoch } = await one.acquire(partition, 'one', drawClaim())
      for (let seq = 1; seq <= entries; seq++) {
        await one.append({ partition, epoch, seq }, text(`entry ${seq}`))
      }
      const [own, others] = [one.snapshots, other.snapshots]
      if (own === undefined || others === undefined) throw new Error('it keeps no snapshots')
      /** Puts its chunks. @returns what publishes it */
      async function put(seq: number, bodies: readonly string[], of = epoch): Promise<NewSnapshot> {
        const id = drawClaim()
        for (const [index, body] of bodies.entries()) {
          const place = { partition, epoch: of, id, index }
          expect(await own?.put(place, text(body))).toEqual({ kind: 'stored' })
        }
        return { partition, epoch: of, id, seq, chunks: bodies.length, atMs: AT_MS }
      }
      return { own, others, partition, epoch, put }
    }

    async function chunksOf(snapshots: Snapshots, partition: number): Promise<string[]> {
      const { newest } = await snapshots.readHead(partition)
      if (newest === null) return []
      const chunks = []
      for (let index = 0; index < newest.chunks; index++) {
        chunks.push(textOf(await snapshots.read(partition, newest.id, index)))
      }
      return chunks
    }

    test('a snapshot is not there until it is published, and then whole for every client', async () => {
      const { own, others, partition, epoch, put } = await prepared(3)
      expect((await others.readHead(partition)).newest).toBeNull()
      const snapshot = await put(2, ['one', 'two', 'three'])
      expect((await others.readHead(partition)).newest).toBeNull()
      await expect(others.read(partition, snapshot.id, 0)).rejects.toThrow(SnapshotGone)
      // Twice, as where an answer was lost.
      for (let times = 0; times < 2; times++) {
        expect(await own.publish(snapshot)).toEqual({ kind: 'stored' })
      }
      const { id } = snapshot
      const newest = { id, epoch, seq: 2, chunks: 3, bytes: 11, atMs: AT_MS }
      expect((await others.readHead(partition)).newest).toEqual(newest)
      expect(await chunksOf(others, partition)).toEqual(['one', 'two', 'three'])
      await expect(others.read(partition, id, 3)).rejects.toThrow(SnapshotGone)
    })

    test('one that lacks a chunk is not published, and the one before it stays', async () => {
      const { own, partition, put } = await prepared(3)
      await own.publish(await put(1, ['before']))
      const snapshot = await put(3, ['one', 'two'])
      await expect(own.publish({ ...snapshot, chunks: 3 })).rejects.toThrow(SnapshotIncomplete)
      expect(await chunksOf(own, partition)).toEqual(['before'])
      expect(await own.publish(snapshot)).toEqual({ kind: 'stored' })
      expect(await chunksOf(own, partition)).toEqual(['one', 'two'])
    })

    test('one of fewer chunks than were put has those, and is as long as those', async () => {
      const { own, partition, put } = await prepared(1)
      const snapshot = await put(1, ['one', 'two', 'three'])
      await own.publish({ ...snapshot, chunks: 2 })
      expect((await own.readHead(partition)).newest).toMatchObject({ chunks: 2, bytes: 6 })
      expect(await chunksOf(own, partition)).toEqual(['one', 'two'])
    })

    test('an owner that is none any more puts and publishes nothing', async () => {
      const { own, others, partition, epoch, put } = await prepared(3)
      const late = await put(3, ['late'])
      const taken = await other.acquire(partition, 'other', drawClaim())
      const fenced = { kind: 'fenced', epoch: epoch + 1 }
      expect(await own.publish(late)).toEqual(fenced)
      expect(await own.put({ partition, epoch, id: late.id, index: 0 }, text('late'))).toEqual(
        fenced,
      )
      expect(await own.put({ partition, epoch, id: late.id, index: 1 }, text('later'))).toEqual(
        fenced,
      )
      expect((await others.readHead(partition)).newest).toBeNull()
      // Nor does the next one publish what that one put under its name.
      const of = { partition, epoch: taken.epoch }
      expect(await one.append({ ...of, seq: 4 }, text('entry 4'))).toEqual({ kind: 'stored' })
      expect(await others.publish(await put(4, ['of the next'], taken.epoch))).toEqual({
        kind: 'stored',
      })
      expect(await own.publish(late)).toEqual(fenced)
      expect(await chunksOf(own, partition)).toEqual(['of the next'])
    })

    test('a chunk that is put again is there once, and another in its place is refused', async () => {
      const { own, partition, epoch, put } = await prepared(1)
      const { id } = await put(1, ['one'])
      const at = { partition, epoch, id, index: 0 }
      const again = await Promise.all([1, 2, 3].map(() => own.put(at, text('one'))))
      expect(again.map(({ kind }) => kind)).toEqual(['stored', 'stored', 'stored'])
      await expect(own.put(at, text('two'))).rejects.toThrow(JournalMisuse)
      await expect(own.put({ ...at, epoch: epoch + 1 }, text('one'))).rejects.toThrow(JournalMisuse)
    })

    test('what is out of bounds is refused', async () => {
      const { own, partition, epoch, put } = await prepared(1)
      const at = { partition, epoch, id: 'one', index: 0 }
      const long = 'i'.repeat(SNAPSHOT_ID_CHARS_MAX + 1)
      const wrong = [{ id: long }, { id: '' }, { index: -1 }, { index: 0.5 }, { index: CHUNKS_MAX }]
      for (const part of wrong) {
        await expect(own.put({ ...at, ...part }, text('one'))).rejects.toThrow(JournalMisuse)
      }
      for (const bytes of [0, BODY_BYTES_MAX + 1]) {
        await expect(own.put(at, new Uint8Array(bytes))).rejects.toThrow(JournalMisuse)
      }
      const snapshot = await put(1, ['one'])
      for (const part of [{ chunks: 0 }, { chunks: CHUNKS_MAX + 1 }, { id: long }]) {
        await expect(own.publish({ ...snapshot, ...part })).rejects.toThrow(JournalMisuse)
      }
      expect((await own.readHead(partition)).newest).toBeNull()
    })

    test('one of another place than there may be is refused', async () => {
      const { own, partition, epoch, put } = await prepared(5)
      await one.trim(partition, 3)
      // Whoever came back from it would miss entry 2.
      await expect(own.publish(await put(1, ['a gap']))).rejects.toThrow(JournalMisuse)
      await expect(own.publish(await put(6, ['beyond']))).rejects.toThrow(JournalMisuse)
      const guessed = { ...(await put(5, ['guessed'])), epoch: epoch + 1 }
      await expect(own.publish(guessed)).rejects.toThrow(JournalMisuse)
      expect(await own.publish(await put(2, ['just in time']))).toEqual({ kind: 'stored' })
      expect(await own.publish(await put(5, ['the last']))).toEqual({ kind: 'stored' })
      await expect(own.publish(await put(4, ['an older one']))).rejects.toThrow(SnapshotOvertaken)
      // Of the same place there may be a newer one.
      expect(await own.publish(await put(5, ['again']))).toEqual({ kind: 'stored' })
      expect(await chunksOf(own, partition)).toEqual(['again'])
    })

    test('every byte of the longest chunk is kept', async () => {
      const { own, others, partition, epoch } = await prepared(1)
      const body = randomBytes(BODY_BYTES_MAX)
      const id = drawClaim()
      await own.put({ partition, epoch, id, index: 0 }, body)
      await own.publish({ partition, epoch, id, seq: 1, chunks: 1, atMs: AT_MS })
      expect(Buffer.from(await others.read(partition, id, 0)).equals(body)).toBe(true)
    })

    test('chunks of no snapshot are swept, and those of one that is there never', async () => {
      const { own, partition, epoch, put } = await prepared(3)
      const many = Array.from({ length: SWEPT_MAX + 3 }, (_, index) => `chunk ${index}`)
      const unpublished = await put(3, many)
      // One that its owner may be making still, while there is none.
      expect(await own.sweep(partition, epoch)).toBe(0)
      const first = await put(3, ['first'])
      await own.publish(first)
      expect(await own.sweep(partition, epoch)).toBe(SWEPT_MAX)
      expect(await own.sweep(partition, epoch)).toBe(3)
      expect(await own.sweep(partition, epoch)).toBe(0)
      await expect(own.publish(unpublished)).rejects.toThrow(SnapshotIncomplete)
      expect(await chunksOf(own, partition)).toEqual(['first'])
      await own.publish(await put(3, ['second', 'and more']))
      await expect(own.read(partition, first.id, 0)).rejects.toThrow(SnapshotGone)
      // A zombie sweeps none of what its successor makes.
      const { epoch: next } = await other.acquire(partition, 'other', drawClaim())
      const third = await put(3, ['third'], next)
      expect(await own.sweep(partition, epoch)).toBe(1)
      expect(await own.publish(third)).toEqual({ kind: 'stored' })
      expect(await own.sweep(partition, next)).toBe(2)
      expect(await chunksOf(own, partition)).toEqual(['third'])
    })

    test('says what there is to follow, and what the engine keeps', async () => {
      const { own, partition, put } = await prepared(4)
      const bytes = 'entry 1'.length
      expect((await own.readHead(partition)).tailBytes).toBe(4 * bytes)
      await own.publish(await put(3, ['one']))
      const head = await own.readHead(partition)
      expect(head.tailBytes).toBe(bytes)
      expect(head.engineBytes ?? Number.POSITIVE_INFINITY).toBeGreaterThan(0)
      expect((await own.readHead(partition + 1_000_000)).newest).toBeNull()
    })
  })
}
