import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Journal } from '../../src/journal/journal.js'
import { drawClaim } from '../journal/races.js'
import { storedInTheEnd } from '../journal/stored-in-the-end.js'
import { createRestateEngine, type RestateEngine } from '../support/restate-engine.js'

/** Of the journal; the cluster deals them out, so that each node leads some or none. */
const PARTITIONS = [1, 2, 3, 4, 5, 6]
const COMES_BACK = { timeout: 60_000 }
/** Longer than a cluster waits for a node. */
const FROZEN_MS = 12_000
const LOST_MS = 10_000
/** What was acknowledged by the nodes that are gone is told by then. */
const TOLD_MS = 3_000

let engine: RestateEngine
let leader: Journal
const stored = new Map<number, string[]>(PARTITIONS.map((partition) => [partition, []]))
const epochs = new Map<number, number>()
let isOver = false
let appending: Promise<void>[] = []
/** Of appends of all partitions, since it was last told of them. */
let tookMs: number[] = []
let unknown = 0

beforeAll(async () => {
  engine = await createRestateEngine(3)
  leader = engine.connect()
  for (const partition of PARTITIONS) {
    epochs.set(partition, (await leader.acquire(partition, 'first', drawClaim())).epoch)
  }
  appending = PARTITIONS.map(appendOnAndOn)
})
afterAll(async () => {
  isOver = true
  await leader?.close()
  await Promise.allSettled(appending)
  await engine?.close()
})

async function appendOnAndOn(partition: number): Promise<void> {
  const entries = stored.get(partition) ?? []
  const epoch = epochs.get(partition) ?? 0
  while (!isOver) {
    const seq = entries.length + 1
    const entry = `partition ${partition}, entry ${seq}, ${'.'.repeat(2_000)}`
    const askedAt = performance.now()
    const times = await storedInTheEnd(leader, { partition, epoch, seq }, Buffer.from(entry))
    unknown += times
    tookMs.push(performance.now() - askedAt)
    entries.push(entry)
  }
}

const count = () => Math.min(...[...stored.values()].map((entries) => entries.length))
const total = () => [...stored.values()].reduce((sum, { length }) => sum + length, 0)

async function goesOn(): Promise<void> {
  const before = count()
  await expect.poll(count, COMES_BACK).toBeGreaterThan(before + 10)
}

function tell(fault: string): void {
  const sorted = tookMs.toSorted((one, other) => one - other)
  const medianMs = Math.round(sorted[sorted.length >> 1] ?? 0)
  const longest = ((sorted.at(-1) ?? 0) / 1_000).toFixed(1)
  process.stdout.write(
    `${fault}: an append ${medianMs} ms in the median, ${longest} s at most, ${unknown} unknown outcomes\n`,
  )
  tookMs = []
  unknown = 0
}

test('a node that is killed, each in turn, ends nothing', async () => {
  await goesOn()
  tell('at rest')
  for (const node of engine.cluster.nodes) {
    await node.kill()
    await goesOn()
    await node.start()
    await goesOn()
    tell('a node killed, and back')
  }
}, 300_000)

test('a node that is frozen, each in turn, ends nothing, nor does it when it wakes', async () => {
  for (const node of engine.cluster.nodes) {
    node.freeze()
    await sleep(FROZEN_MS)
    await goesOn()
    node.thaw()
    await goesOn()
    tell(`a node frozen for ${FROZEN_MS / 1_000} s`)
  }
}, 300_000)

test('while two of three are gone nothing is acknowledged, and all goes on once they are back', async () => {
  const [, second, third] = engine.cluster.nodes
  await Promise.all([second?.kill(), third?.kill()])
  await sleep(TOLD_MS)
  const before = total()
  await sleep(LOST_MS - TOLD_MS)
  expect(total()).toBe(before)
  await Promise.all([second?.start(), third?.start()])
  await goesOn()
  tell(`two of three gone for ${LOST_MS / 1_000} s`)
}, 300_000)

test('what was acknowledged is there, once and in order, and its next owner ends the one before it', async () => {
  isOver = true
  await Promise.all(appending)
  process.stdout.write(`${total()} entries were acknowledged\n`)
  const next = engine.connect()
  for (const [partition, entries] of stored) {
    const found: string[] = []
    for (;;) {
      const read = await next.read(partition, found.length, 1_000_000)
      if (read.length === 0) break
      for (const { seq, body } of read) {
        expect(seq).toBe(found.length + 1)
        found.push(Buffer.from(body).toString())
      }
    }
    expect(found).toEqual(entries)
    const { epoch, seq } = await next.acquire(partition, 'second', drawClaim())
    expect(seq).toBe(entries.length)
    const zombie = { partition, epoch: epochs.get(partition) ?? 0, seq: seq + 1 }
    expect(await leader.append(zombie, Buffer.from('z'))).toEqual({ kind: 'fenced', epoch })
  }
  await next.close()
})
