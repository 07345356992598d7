import { expect, test } from 'vitest'
import { emptyWatcher, type WatcherState } from '../../actors/chain-watcher/core/state.js'
import { meterUnconfirmed } from '../../actors/chain-watcher/meter-unconfirmed.js'
import { packer } from '../../actors/chain-watcher/packer.js'
import type { ActorShell } from '../../actors/runtime/actor.js'
import {
  type Address,
  ENTROPY_BYTES,
  type SubWalletId,
  type TxId,
  timeOfId,
  ulidBody,
} from '../../src/domain/ids.js'
import type { LaneBacklog } from '../../src/domain/path-meter.js'

const CHAIN = 8_453
const idAt = (atMs: number) => `tx_${ulidBody(atMs, new Uint8Array(ENTROPY_BYTES))}` as TxId

test('what is not final is shown by its oldest, whatever order is asked in, and by its lanes', () => {
  const state = emptyWatcher(CHAIN, 1, 2_000, packer)
  const shell: ActorShell<WatcherState, never, never, never> = {
    kind: 'chain-watcher',
    decide: () => ({ events: [], effects: [], replies: [] }),
    load: () => state,
    record() {},
    run() {},
    idle: () => false,
  }
  const reads = new Map<number, () => LaneBacklog>()
  const metered = meterUnconfirmed(shell, { unconfirmed: (id, read) => void reads.set(id, read) })
  metered.load(String(CHAIN))
  const shown = () => reads.get(CHAIN)?.()
  expect(shown()).toEqual({ count: 0, oldestAtMs: null, lanes: 0 })

  const watched = [1_790_000_000_500, 1_790_000_000_007, 1_790_000_009_000].map((atMs, n) => ({
    ...{ txId: idAt(atMs), owner: `sw_${n % 2}` as SubWalletId, from: '0x00' as Address, nonce: 7 },
    ...{ hashes: [], mined: null, pendingNotice: null, checked: true, sinceBlock: 3 },
  }))
  for (const one of watched) state.watched.put(one)
  expect(shown()).toEqual({ count: 3, oldestAtMs: 1_790_000_000_007, lanes: 2 })
  const oldest = watched[1]
  if (oldest !== undefined) state.watched.settle(oldest, { blockNumber: 5, blockHash: '0xaa' })
  expect(shown()).toEqual({ count: 2, oldestAtMs: 1_790_000_000_500, lanes: 1 })
})

test('an id says when it was drawn', () => {
  for (const atMs of [0, 1, 1_790_000_000_123, 2 ** 48 - 1]) expect(timeOfId(idAt(atMs))).toBe(atMs)
})
