import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  BODY_BYTES_MAX,
  CLAIM_CHARS_MAX,
  CLAIMS_KEPT,
  type Journal,
  JournalMisuse,
  JournalOvertaken,
  JournalTrimmed,
} from '../../src/journal/journal.js'
import { drawClaim, raceTakers } from './races.js'

/** What an adapter brings to be held to the port. */
export interface Engine {
  /** Another client of the same journal, as another node would have it. */
  connect(): Journal | Promise<Journal>
  close(): Promise<void>
}

/** Races of takers, each of three for a partition of its own. */
const RACES = Number(process.env.JOURNAL_RACES ?? 150)
/** An engine of three nodes on two cores takes a third of a second for one. */
const RACES_TIMEOUT_MS = Math.max(600_000, RACES * 1_000)

const TAKEN_AT_ONCE = 8
/** Each for a partition of its own. */
const RACED_AT_ONCE = 6

const text = (value: string) => Buffer.from(value)
const texts = (entries: readonly { readonly body: Uint8Array }[]) =>
  entries.map(({ body }) => Buffer.from(body).toString())

/** Every guarantee of the port, asked of an adapter. */
export function describeJournal(name: string, open: () => Promise<Engine>): void {
  describe(name, () => {
    let engine: Engine
    let one: Journal
    let other: Journal
    let partition = 0

    beforeAll(async () => {
      engine = await open()
      one = await engine.connect()
      other = await engine.connect()
    })
    afterAll(async () => {
      await Promise.all([one?.close(), other?.close()])
      await engine?.close()
    })

    /** A partition that no test used before, and its first owner. */
    async function fresh() {
      const own = ++partition
      const { epoch } = await one.acquire(own, 'one', drawClaim())
      const at = (seq: number, of = epoch) => ({ partition: own, epoch: of, seq })
      return { epoch, at, partition: own }
    }

    test('a partition that nobody took is empty, and its first owner begins at entry 1', async () => {
      partition++
      expect(await one.read(partition, 0, 1_000)).toEqual([])
      const taken = await one.acquire(partition, 'one', drawClaim())
      expect(taken).toEqual({ epoch: 1, seq: 0, first: 1 })
    })

    test('a partition is taken from the owner that was seen, and from no other', async () => {
      const { partition, epoch, at } = await fresh()
      const claim = drawClaim()
      expect(await other.acquire(partition, 'other', claim, epoch)).toMatchObject({
        epoch: epoch + 1,
      })
      const late = one.acquire(partition, 'one', drawClaim(), epoch)
      await expect(late).rejects.toThrow(JournalOvertaken)
      // The same acquisition again is the same, whatever came since.
      await one.acquire(partition, 'one', drawClaim(), epoch + 1)
      expect(await other.acquire(partition, 'other', claim, epoch)).toMatchObject({
        epoch: epoch + 1,
      })
      expect(await one.append(at(1, epoch + 2), text('of the third'))).toEqual({ kind: 'stored' })
    })

    test('who looks sees the last owner and what there is, and ends nobody', async () => {
      partition++
      const nobody = { epoch: 0, seq: 0, first: 1, owner: null, beat: null }
      expect(await one.readHead(partition)).toEqual(nobody)
      const claim = drawClaim()
      const { epoch } = await one.acquire(partition, 'the node', claim)
      const at = (seq: number) => ({ partition, epoch, seq })
      for (const seq of [1, 2, 3]) await one.append(at(seq), text('entry'))
      await one.trim(partition, 2)
      const head = { epoch, seq: 3, first: 2, owner: { node: 'the node', claim }, beat: null }
      expect(await other.readHead(partition)).toEqual(head)
      expect(await one.append(at(4), text('entry'))).toEqual({ kind: 'stored' })
    })

    test('the last owner that said that it lives is seen, and an earlier one is passed over', async () => {
      const { partition, epoch, at } = await fresh()
      await one.heartbeat(partition, epoch, 0, 'lives')
      const first = (await other.readHead(partition)).beat
      expect(first).toEqual({ epoch, stored: 0, state: 'lives', count: expect.any(Number) })
      await one.append(at(1), text('entry'))
      await one.heartbeat(partition, epoch, 1, 'lives')
      const second = (await other.readHead(partition)).beat
      expect(second).toMatchObject({ epoch, stored: 1 })
      expect(second?.count).not.toBe(first?.count)
      await other.acquire(partition, 'other', drawClaim())
      await one.heartbeat(partition, epoch, 1, 'leaves')
      await other.heartbeat(partition, epoch + 1, 1, 'lives')
      await one.heartbeat(partition, epoch, 1, 'leaves')
      expect((await one.readHead(partition)).beat).toMatchObject({
        epoch: epoch + 1,
        state: 'lives',
      })
    })

    test('entries come back as they were stored, in order, to every client', async () => {
      const { at, partition, epoch } = await fresh()
      for (const seq of [1, 2, 3]) {
        expect(await one.append(at(seq), text(`entry ${seq}`))).toEqual({ kind: 'stored' })
      }
      const entries = await other.read(partition, 0, 1_000)
      expect(texts(entries)).toEqual(['entry 1', 'entry 2', 'entry 3'])
      expect(entries.map(({ seq }) => seq)).toEqual([1, 2, 3])
      expect(new Set(entries.map((entry) => entry.epoch))).toEqual(new Set([epoch]))
      expect(texts(await other.read(partition, 2, 1_000))).toEqual(['entry 3'])
      expect(await other.read(partition, 3, 1_000)).toEqual([])
    })

    test('partitions know nothing of one another', async () => {
      const first = await fresh()
      const second = await fresh()
      await one.append(first.at(1), text('of the first'))
      await one.append(second.at(1), text('of the second'))
      expect(texts(await one.read(first.partition, 0, 1_000))).toEqual(['of the first'])
      expect(texts(await one.read(second.partition, 0, 1_000))).toEqual(['of the second'])
    })

    test('every byte is kept, and what the caller does with its bytes afterwards changes none', async () => {
      const { at, partition } = await fresh()
      const body = Buffer.from(Array.from({ length: 512 }, (_, index) => index % 256))
      const copy = Buffer.from(body)
      const appending = one.append(at(1), body)
      await appending
      body.fill(0)
      const [entry] = await one.read(partition, 0, 1_000)
      expect(Buffer.from(entry?.body ?? []).equals(copy)).toBe(true)
    })

    test('an entry of the longest length is stored and read whole', async () => {
      const { at, partition } = await fresh()
      const body = randomBytes(BODY_BYTES_MAX)
      expect(await one.append(at(1), body)).toEqual({ kind: 'stored' })
      const [entry] = await other.read(partition, 0, 1)
      expect(Buffer.from(entry?.body ?? []).equals(body)).toBe(true)
    })

    test('a body of no bytes, or of one too many, is refused and nothing stored', async () => {
      const { at, partition } = await fresh()
      await expect(one.append(at(1), new Uint8Array(0))).rejects.toThrow(JournalMisuse)
      await expect(one.append(at(1), new Uint8Array(BODY_BYTES_MAX + 1))).rejects.toThrow(
        JournalMisuse,
      )
      expect(await one.read(partition, 0, 1_000)).toEqual([])
    })

    test('a claim that is too long is refused and takes nothing', async () => {
      const { at, partition } = await fresh()
      const claim = 'c'.repeat(CLAIM_CHARS_MAX + 1)
      await expect(other.acquire(partition, 'other', claim)).rejects.toThrow(JournalMisuse)
      await expect(other.acquire(partition, 'other', '')).rejects.toThrow(JournalMisuse)
      expect(await one.append(at(1), text('still the owner'))).toEqual({ kind: 'stored' })
    })

    test('a place that is not the next is refused and nothing stored', async () => {
      const { at, partition } = await fresh()
      await expect(one.append(at(2), text('a gap'))).rejects.toThrow(JournalMisuse)
      await expect(one.append(at(0), text('before the first'))).rejects.toThrow(JournalMisuse)
      await one.append(at(1), text('first'))
      await expect(one.append(at(3), text('a gap'))).rejects.toThrow(JournalMisuse)
      expect(texts(await one.read(partition, 0, 1_000))).toEqual(['first'])
    })

    test('an append that is asked for again is stored once', async () => {
      const { at, partition } = await fresh()
      for (let times = 0; times < 3; times++) {
        expect(await one.append(at(1), text('once'))).toEqual({ kind: 'stored' })
      }
      const together = await Promise.all([1, 2, 3].map(() => one.append(at(2), text('at once'))))
      expect(together.map(({ kind }) => kind)).toEqual(['stored', 'stored', 'stored'])
      expect(await one.append(at(1), text('once'))).toEqual({ kind: 'stored' })
      expect(texts(await one.read(partition, 0, 1_000))).toEqual(['once', 'at once'])
    })

    test('another body at a place that is filled is refused, and what is there stays', async () => {
      const { at, partition } = await fresh()
      await one.append(at(1), text('mine'))
      await expect(one.append(at(1), text('other'))).rejects.toThrow(JournalMisuse)
      expect(texts(await one.read(partition, 0, 1_000))).toEqual(['mine'])
    })

    test('an epoch that was never given is refused', async () => {
      const { at, partition, epoch } = await fresh()
      await expect(one.append(at(1, epoch + 1), text('guessed'))).rejects.toThrow(JournalMisuse)
      expect(await one.read(partition, 0, 1_000)).toEqual([])
    })

    test('the next owner goes on where the last one ended, and the last one is fenced', async () => {
      const { at, partition, epoch } = await fresh()
      await one.append(at(1), text('before'))
      const taken = await other.acquire(partition, 'other', drawClaim())
      expect(taken).toEqual({ epoch: epoch + 1, seq: 1, first: 1 })
      const fenced = { kind: 'fenced', epoch: taken.epoch }
      expect(await one.append(at(2), text('a zombie'))).toEqual(fenced)
      expect(await other.append(at(2, taken.epoch), text('after'))).toEqual({ kind: 'stored' })
      // Whatever it asks for: the next place, the one that is filled, one that is far off, its own.
      for (const seq of [3, 2, 99, 1]) {
        expect(await one.append(at(seq), text('before'))).toEqual(fenced)
      }
      const entries = await one.read(partition, 0, 1_000)
      expect(texts(entries)).toEqual(['before', 'after'])
      expect(entries.map((entry) => entry.epoch)).toEqual([epoch, taken.epoch])
    })

    test('the same claim is the same acquisition, and ends nobody', async () => {
      partition++
      const claim = drawClaim()
      const taken = await one.acquire(partition, 'one', claim)
      const at = (seq: number) => ({ partition, epoch: taken.epoch, seq })
      await one.append(at(1), text('first'))
      const again = await one.acquire(partition, 'one', claim)
      expect(again).toEqual({ epoch: taken.epoch, seq: 1, first: 1 })
      const together = await Promise.all(
        [1, 2, 3].map(() => other.acquire(partition, 'one', claim)),
      )
      expect(together.map(({ epoch }) => epoch)).toEqual(Array(3).fill(taken.epoch))
      expect(await one.append(at(2), text('second'))).toEqual({ kind: 'stored' })
    })

    test('an acquisition that comes late, after another, does not end the other', async () => {
      partition++
      const late = drawClaim()
      const first = await one.acquire(partition, 'one', late)
      const second = await other.acquire(partition, 'other', drawClaim())
      expect((await one.acquire(partition, 'one', late)).epoch).toBe(first.epoch)
      const at = { partition, epoch: second.epoch, seq: 1 }
      expect(await other.append(at, text('of the owner'))).toEqual({ kind: 'stored' })
      const asFirst = { ...at, epoch: first.epoch, seq: 2 }
      expect(await one.append(asFirst, text('late'))).toEqual({
        kind: 'fenced',
        epoch: second.epoch,
      })
    })

    test('of two that take with different claims at once, each gets an epoch of its own', async () => {
      partition++
      const taken = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          (index % 2 === 0 ? one : other).acquire(partition, `node-${index}`, drawClaim()),
        ),
      )
      expect(taken.map(({ epoch }) => epoch).sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    })

    test('a claim is still known after as many others as are kept', async () => {
      partition++
      const claim = drawClaim()
      expect((await one.acquire(partition, 'one', claim)).epoch).toBe(1)
      for (let others = 1; others < CLAIMS_KEPT; others += TAKEN_AT_ONCE) {
        const count = Math.min(TAKEN_AT_ONCE, CLAIMS_KEPT - others)
        await Promise.all(
          Array.from({ length: count }, () => one.acquire(partition, 'one', drawClaim())),
        )
      }
      expect((await other.acquire(partition, 'one', claim)).epoch).toBe(1)
      expect((await other.acquire(partition, 'other', drawClaim())).epoch).toBe(CLAIMS_KEPT + 1)
    })

    test('a read ends at its bound of bytes, and the next goes on from there', async () => {
      const { at, partition } = await fresh()
      for (let seq = 1; seq <= 6; seq++) await one.append(at(seq), Buffer.alloc(100, seq))
      const read = async (after: number, bytes: number) =>
        (await one.read(partition, after, bytes)).map(({ seq }) => seq)
      expect(await read(0, 300)).toEqual([1, 2, 3])
      expect(await read(0, 299)).toEqual([1, 2])
      expect(await read(3, 301)).toEqual([4, 5, 6])
      // One always comes, or whoever reads would never get past it.
      expect(await read(0, 99)).toEqual([1])
      expect(await read(4, 1)).toEqual([5])
      expect(await read(9, 1_000)).toEqual([])
    })

    test('what was trimmed is never passed over in silence, and places stay counted', async () => {
      const { at, partition, epoch } = await fresh()
      for (let seq = 1; seq <= 4; seq++) await one.append(at(seq), text(`entry ${seq}`))
      await one.trim(partition, 3)
      await expect(one.read(partition, 0, 1_000)).rejects.toThrow(JournalTrimmed)
      await expect(one.read(partition, 1, 1_000)).rejects.toThrow(JournalTrimmed)
      expect(texts(await one.read(partition, 2, 1_000))).toEqual(['entry 3', 'entry 4'])
      await one.trim(partition, 2)
      expect(texts(await one.read(partition, 2, 1_000))).toEqual(['entry 3', 'entry 4'])
      const taken = await other.acquire(partition, 'other', drawClaim())
      expect(taken).toEqual({ epoch: epoch + 1, seq: 4, first: 3 })
    })

    test('a journal that is trimmed to beyond its end goes on counting', async () => {
      const { at, partition } = await fresh()
      await one.append(at(1), text('first'))
      await one.trim(partition, 99)
      await expect(one.read(partition, 0, 1_000)).rejects.toThrow(JournalTrimmed)
      expect(await one.read(partition, 1, 1_000)).toEqual([])
      expect(await one.append(at(2), text('second'))).toEqual({ kind: 'stored' })
      expect(texts(await one.read(partition, 1, 1_000))).toEqual(['second'])
      expect(await other.acquire(partition, 'other', drawClaim())).toMatchObject({
        seq: 2,
        first: 2,
      })
    })

    test(
      'however takers race, no place has two writers and nothing stored is lost',
      async () => {
        for (let race = 0; race < RACES; race += RACED_AT_ONCE) {
          const races = Math.min(RACED_AT_ONCE, RACES - race)
          await Promise.all(
            Array.from({ length: races }, (_, index) =>
              raceTakers([one, other], ++partition, race + index),
            ),
          )
        }
      },
      RACES_TIMEOUT_MS,
    )
  })
}
