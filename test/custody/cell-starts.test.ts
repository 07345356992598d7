import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Cell, ONE_CELL, parsePartitions } from '../../src/domain/cells.js'
import { createLanes, type Lanes } from '../../src/identity-provider/vault/lanes.js'
import {
  type LedgerStore,
  openLedgerStore,
} from '../../src/identity-provider/vault/ledger-store.js'
import {
  createServiceBoots,
  type ServiceBoots,
} from '../../src/identity-provider/vault/service-boots.js'
import type { Connection } from '../../src/quorum-protocol/server.js'
import type { ServiceStart } from '../../src/quorum-protocol/service-boot.js'

/** Which starts the user side serves where users are dealt out to cells: over real rows. */

const LANE_BATCHES = 2 ** 24
const FIRST = cell(0, '0-11')
const SECOND = cell(1, '12-23')
const JOURNALS = ['0a', '0b', '0c'].map((byte) => byte.repeat(16))

let home: string
let ledger: LedgerStore
let lanes: Lanes
let boots: ServiceBoots
/** Ids of co-signer keys that have ended. */
const ended = new Set<string>()

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'cs-cells-'))
  open()
})
afterEach(async () => {
  await ledger.close()
  rmSync(home, { recursive: true, force: true })
})

function open(): void {
  ledger = openLedgerStore(join(home, 'ledger'), { length: 0 })
  lanes = createLanes(ledger)
  boots = createServiceBoots(ledger, lanes, (kid) => kid === null || !ended.has(nameOf(kid)))
}

async function restart(): Promise<void> {
  await ledger.close()
  open()
}

function cell(number: number, partitions: string): Cell {
  return { number, partitions: parsePartitions(partitions) ?? 0 }
}

/** Of the journal that the cell has. */
function startOf(of: Cell, epoch: number, boot = randomBytes(16)): ServiceStart {
  return { boot, leadership: { journal: JOURNALS[of.number] ?? '', epoch, cell: of } }
}

/** The same, announced by a key. */
function startBy(kid: Buffer, ...start: Parameters<typeof startOf>): ServiceStart {
  return { ...startOf(...start), kid }
}

const nameOf = (kid: Uint8Array) => Buffer.from(kid).toString('hex')

function connection(): Connection {
  let closed = false
  return {
    get closed() {
      return closed
    },
    end: () => {
      closed = true
    },
  }
}

/** @returns the connection on which it announced itself */
async function admitted(start: ServiceStart): Promise<Connection> {
  const made = connection()
  await boots.admit(start, made)
  return made
}

function take(batchSeq: number, of: Cell): void {
  ledger.decide((writer) => lanes.take(batchSeq, of.number, writer))
}

describe('starts of two cells', () => {
  test('are served at once, and each fences those of its own cell alone', async () => {
    const first = await admitted(startOf(FIRST, 1))
    const second = await admitted(startOf(SECOND, 1))
    expect(boots.requireServed(first)).toEqual(FIRST)
    expect(boots.requireServed(second)).toEqual(SECOND)
    const third = await admitted(startOf(FIRST, 2))
    expect([first.closed, second.closed, third.closed]).toEqual([true, false, false])
    expect(() => boots.requireServed(first)).toThrow('FENCED')
    expect(boots.requireServed(second)).toEqual(SECOND)
    const fourth = await admitted(startOf(SECOND, 2))
    expect(() => boots.requireServed(second)).toThrow('FENCED')
    expect(boots.requireServed(third)).toEqual(FIRST)
    expect(boots.requireServed(fourth)).toEqual(SECOND)
  })

  test('are known again after restarts, each as its cell’s', async () => {
    const [old, young, other] = [startOf(FIRST, 1), startOf(FIRST, 2), startOf(SECOND, 1)]
    for (const start of [old, young, other]) await admitted(start)
    await restart()
    await expect(admitted(old)).rejects.toThrow('FENCED')
    const [mine, theirs] = [await admitted(young), await admitted(other)]
    expect(boots.requireServed(mine)).toEqual(FIRST)
    expect(boots.requireServed(theirs)).toEqual(SECOND)
  })

  test('come late as an earlier owner of their journal, and disturb neither cell', async () => {
    const first = await admitted(startOf(FIRST, 8))
    const second = await admitted(startOf(SECOND, 3))
    await expect(admitted(startOf(FIRST, 7))).rejects.toThrow('FENCED')
    // As it was before users were dealt out, when it had them all.
    await expect(admitted(startOf(ONE_CELL, 7))).rejects.toThrow('FENCED')
    expect(boots.requireServed(first)).toEqual(FIRST)
    expect(boots.requireServed(second)).toEqual(SECOND)
    await restart()
    await expect(admitted(startOf(FIRST, 7))).rejects.toThrow('FENCED')
  })

  test('count no epochs of each other’s journals', async () => {
    const { leadership: owner } = startOf(FIRST, 1_000)
    await admitted({ boot: randomBytes(16), leadership: owner && { ...owner, cell: SECOND } })
    const first = await admitted(startOf(FIRST, 2))
    expect(boots.requireServed(first)).toEqual(FIRST)
  })

  test('one whose partitions another cell has waits until that one gives them up', async () => {
    const single = await admitted(startOf(ONE_CELL, 1))
    const waiting = startOf(SECOND, 1)
    const words = 'CONFLICT: cell 1 announces the partitions 12-23, but cell 0 has 12-23 of them'
    await expect(admitted(waiting)).rejects.toThrow(words)
    expect(boots.requireServed(single)).toEqual(ONE_CELL)
    await restart()
    await expect(admitted(waiting)).rejects.toThrow(words)
    const first = await admitted(startOf(FIRST, 2))
    const second = await admitted(waiting)
    expect(boots.requireServed(first)).toEqual(FIRST)
    expect(boots.requireServed(second)).toEqual(SECOND)
    // With more users, and with all of them, be it without a journal: they are the other cell's.
    for (const more of [startOf(cell(0, '0-12'), 3), startOf(ONE_CELL, 3)]) {
      await expect(admitted(more)).rejects.toThrow('CONFLICT')
    }
    const without = { boot: randomBytes(16), leadership: null }
    await expect(admitted(without)).rejects.toThrow('but cell 1 has 12-23 of them')
    await restart()
    await expect(admitted(startOf(cell(0, '0-12'), 3))).rejects.toThrow('cell 1 has 12 of them')
    await admitted(startOf(cell(1, '13-23'), 2))
    const more = await admitted(startOf(cell(0, '0-12'), 3))
    expect(boots.requireServed(more)).toEqual(cell(0, '0-12'))
  })

  test('one that its command announced as the owner it was before is its cell’s as it is by now', async () => {
    const boot = randomBytes(16)
    const single = await admitted(startOf(ONE_CELL, 1, boot))
    const first = await admitted(startOf(FIRST, 2, boot))
    expect(boots.requireServed(first)).toEqual(FIRST)
    // Both are of the one service.
    expect(boots.requireServed(single)).toEqual(FIRST)
    const second = await admitted(startOf(SECOND, 1))
    await expect(admitted(startOf(ONE_CELL, 3, boot))).rejects.toThrow('CONFLICT')
    // What came last of all it is not: the next start has a number of its own.
    await admitted(startOf(FIRST, 4, boot))
    await admitted(startOf(SECOND, 3))
    expect(() => boots.requireServed(second)).toThrow('FENCED')
    // Nor is it of the other cell, whatever it says.
    await expect(admitted(startOf(SECOND, 4, boot))).rejects.toThrow('FENCED')
  })

  test('of a cell that is at rest the latest is never forgotten', async () => {
    const quiet = startOf(SECOND, 5)
    await admitted(quiet)
    const number = ledger.lastBoot
    const boot = (n: number) => Buffer.concat([Buffer.alloc(8, 1), bytesOf(n)])
    await put((n) => startOf(FIRST, n, boot(n)), 70_000)
    await restart()
    expect(ledger.bootNumber(quiet.boot)).toBe(number)
    expect(ledger.latestStart(1)).toMatchObject({ number, cell: SECOND })
    await expect(admitted(startOf(SECOND, 4))).rejects.toThrow('FENCED')
    await expect(admitted(startOf(ONE_CELL, 80_000))).rejects.toThrow('CONFLICT')
    expect(boots.requireServed(await admitted(quiet))).toEqual(SECOND)
    // Once another has taken its place, it is as old as it is.
    await admitted(startOf(SECOND, 6))
    await restart()
    expect(ledger.bootNumber(quiet.boot)).toBeNull()
    expect(ledger.bootNumber(boot(70_000))).not.toBeNull()
  })
})

describe('lanes of two cells', () => {
  test('are closed by starts of their own cell alone', async () => {
    await admitted(startOf(FIRST, 1))
    await admitted(startOf(SECOND, 1))
    const [one, two] = [await lanes.next(0), await lanes.next(1)]
    // A thread of each asks for a lane while one of them is taken over from.
    const late = [lanes.next(0), lanes.next(1)]
    const taking = admitted(startOf(FIRST, 2))
    const outcomes = await Promise.allSettled(late)
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
    await taking
    expect(() => take(one * LANE_BATCHES + 1, FIRST)).toThrow('FENCED')
    take(two * LANE_BATCHES + 1, SECOND)
    take((two + 2) * LANE_BATCHES + 1, SECOND)
  })

  test('take no batch of the other', async () => {
    await admitted(startOf(FIRST, 1))
    await admitted(startOf(SECOND, 1))
    const [one, two] = [await lanes.next(0), await lanes.next(1)]
    expect(() => take(two * LANE_BATCHES + 1, FIRST)).toThrow('REPLAYED')
    expect(() => take(one * LANE_BATCHES + 1, SECOND)).toThrow('REPLAYED')
    // Nor is it used up by that.
    take(two * LANE_BATCHES + 1, SECOND)
    take(one * LANE_BATCHES + 1, FIRST)
  })

  test('are not crowded out by the other’s', async () => {
    const mine = await lanes.next(0)
    for (let asked = 0; asked < 300; asked++) await lanes.next(1)
    take(mine * LANE_BATCHES + 1, FIRST)
  })
})

/** As many starts as no process lives to see, in some commits. */
async function put(start: (n: number) => ServiceStart, count: number): Promise<void> {
  for (let from = 1; from <= count; from += 10_000) {
    const { flushed } = ledger.commit((writer) => {
      for (let n = from; n < from + 10_000; n++) writer.putBoot(ledger.lastBoot + 1, start(n))
    })
    await flushed
  }
}

function bytesOf(n: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt32BE(n, 4)
  return bytes
}

describe('a co-signer key that was stolen, and has ended', () => {
  const [stolen, own] = [Buffer.alloc(8, 1), Buffer.alloc(8, 2)]
  beforeEach(() => ended.clear())

  test('shuts nobody out: not by the highest epoch there is, also once the user side has started again', async () => {
    await admitted(startBy(own, FIRST, 7))
    await admitted(startBy(stolen, FIRST, Number.MAX_SAFE_INTEGER))
    const honest = startBy(own, FIRST, 8)
    await expect(admitted(honest)).rejects.toThrow('FENCED')
    ended.add(nameOf(stolen))
    expect(boots.requireServed(await admitted(honest))).toEqual(FIRST)
    await restart()
    expect(boots.requireServed(await admitted(startBy(own, FIRST, 9)))).toEqual(FIRST)
    // What the key of another machine was at is as late as it was.
    await expect(admitted(startBy(own, FIRST, 6))).rejects.toThrow('FENCED')
  })

  test('keeps no partitions of others', async () => {
    const all = cell(2, '0-22')
    await admitted(startBy(stolen, all, 1))
    await expect(admitted(startBy(own, FIRST, 1))).rejects.toThrow('CONFLICT')
    ended.add(nameOf(stolen))
    expect(boots.requireServed(await admitted(startBy(own, FIRST, 1)))).toEqual(FIRST)
  })

  test('is served no more on a connection that it has open', async () => {
    const open = await admitted(startBy(stolen, FIRST, 1))
    expect(boots.requireServed(open)).toEqual(FIRST)
    ended.add(nameOf(stolen))
    expect(() => boots.requireServed(open)).toThrow('UNAUTHENTIC')
  })

  test('takes nothing along of a start that goes on by its next key', async () => {
    const boot = randomBytes(16)
    await admitted(startBy(stolen, FIRST, 5, boot))
    const next = await admitted(startBy(own, FIRST, 5, boot))
    ended.add(nameOf(stolen))
    expect(boots.requireServed(next)).toEqual(FIRST)
    await restart()
    await expect(admitted(startBy(own, FIRST, 4))).rejects.toThrow('FENCED')
  })
})
