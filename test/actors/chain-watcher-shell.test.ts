import { expect, test } from 'vitest'
import type { WatcherCommand } from '../../actors/chain-watcher/core/messages.js'
import { createChainWatcherShell } from '../../actors/chain-watcher/shell.js'
import type { ChainAccess } from '../../src/chains/access.js'
import type { Receipt } from '../../src/chains/receipts.js'
import { systemTimers } from '../../src/clock/timers.js'
import type { Hex } from '../../src/domain/ids.js'
import type { Reader } from '../../src/store/reader.js'

const CHAIN_ID = 8453
const HASHES = Array.from({ length: 950 }, (_, n): Hex => `0x${n.toString(16).padStart(64, '0')}`)

/** Stands for a node: answers with no receipts, when it is told to. */
function fakeNode(answer: () => Promise<void>, unusable: readonly Hex[] = []) {
  const asked: (readonly Hex[])[] = []
  const node = { underWay: 0, underWayMax: 0, asked }
  const receipts = async (hashes: readonly Hex[]): Promise<(Receipt | null | undefined)[]> => {
    asked.push(hashes)
    node.underWayMax = Math.max(node.underWayMax, ++node.underWay)
    await answer()
    node.underWay--
    return hashes.map((hash) => (unusable.includes(hash) ? undefined : null))
  }
  const chain = { config: { id: CHAIN_ID }, reads: { receipts } } as unknown as ChainAccess
  return { node, chains: new Map([[CHAIN_ID, chain]]) }
}

function fetchReceipts(
  chains: ReadonlyMap<number, ChainAccess>,
  warn: (context: object, message: string) => void = (_, message) => expect.unreachable(message),
): WatcherCommand[] {
  const told: WatcherCommand[] = []
  const shell = createChainWatcherShell({
    reader: {} as Reader,
    chains,
    tell: () => {},
    announce: () => {},
    log: { warn },
    timers: systemTimers(Date.now),
  })
  shell.run(String(CHAIN_ID), { type: 'fetch-receipts', hashes: HASHES }, (command) =>
    told.push(command),
  )
  return told
}

const askedIn = (told: readonly WatcherCommand[]) =>
  told.flatMap((command) => (command.type === 'receipts' ? [command.asked] : []))

test('receipts of a full block come a hundred at a time, so that sends get their turn between', async () => {
  const { node, chains } = fakeNode(() => Promise.resolve())
  const told = fetchReceipts(chains)
  await expect.poll(() => told).toHaveLength(10)
  expect(node.underWayMax).toBe(1)
  expect(askedIn(told).flat()).toEqual(HASHES)
  expect(Math.max(...askedIn(told).map(({ length }) => length))).toBe(100)
})

test('a node that is far away is asked for the next before it has answered', async () => {
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const { node, chains } = fakeNode(() => released)
  const told = fetchReceipts(chains)
  await expect.poll(() => node.asked).toHaveLength(10)
  expect(told).toHaveLength(0)
  release()
  await expect.poll(() => told).toHaveLength(10)
  expect(askedIn(told).flat()).toEqual(HASHES)
})

test('a receipt that cannot be read keeps no other back', async () => {
  const [unusable, ...others] = HASHES
  const { chains } = fakeNode(() => Promise.resolve(), unusable === undefined ? [] : [unusable])
  const warned: object[] = []
  const told = fetchReceipts(chains, (context) => warned.push(context))
  await expect.poll(() => told).toHaveLength(10)
  expect(askedIn(told).flat()).toEqual(others)
  expect(warned).toEqual([{ chainId: CHAIN_ID, hashes: [unusable] }])
})
