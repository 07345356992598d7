import { describe, expect, test } from 'vitest'
import { passIfVerified } from '../../actors/retention/pass-if-time-is-verified.js'
import type { Command } from '../../actors/sub-wallet/core/messages.js'
import type { SubWalletPorts } from '../../actors/sub-wallet/ports.js'
import { createSubWalletShell } from '../../actors/sub-wallet/shell.js'
import { sweepOnce } from '../../actors/sub-wallet/sweep-idempotency.js'
import { createServiceClock, type ServiceClock } from '../../src/clock/service-clock.js'
import { systemTimers } from '../../src/clock/timers.js'
import { IDEMPOTENCY_KEPT_MS } from '../../src/domain/idempotency.js'
import { DAY_MS } from '../../src/domain/retention.js'
import { applyRows } from '../../src/store/apply-rows.js'
import { NO_EVENTS } from '../../src/store/event-rows.js'
import { WriteBatch } from '../../src/store/write-batch.js'
import { LINEAGE_ID, START_MS, txIdOf } from '../actors/wallet-fixtures.js'
import { openWallet, type WalletWorld } from '../core/wallet-world.js'

/** @param chainsMs null: no block was seen yet */
function clockAt(machineMs: number, chainsMs: number | null): ServiceClock {
  return createServiceClock({
    chainTime: { nearestMs: () => chainsMs },
    machineMs: () => machineMs,
    monotonicMs: () => 0,
  })
}

/** A request that was answered at START_MS. */
async function answered(): Promise<WalletWorld> {
  const world = await openWallet(1_000n)
  const batch = new WriteBatch()
  const record = { bodyHash: 'body', txId: txIdOf(1), createdAtMs: START_MS }
  batch.putIdempotency(LINEAGE_ID, 'once', record)
  await applyRows(world.environment, batch.rows(world.environment, NO_EVENTS))
  return world
}

/** What a wallet is told to forget. */
function sweptBy(world: WalletWorld, clock: ServiceClock): Command[] {
  const told: Command[] = []
  const tell = (_: unknown, command: Command) => told.push(command)
  sweepOnce({ reader: world.reader, tell, verifiedNowMs: clock.verifiedNowMs }, null)
  return told
}

const OLD_ENOUGH_MS = START_MS + IDEMPOTENCY_KEPT_MS
const FORGET: Command = { type: 'forget-idempotency', lineageId: LINEAGE_ID, keys: ['once'] }

describe('what is removed for good because it is old', () => {
  test('an answered request is not forgotten by a clock that is ahead, nor before the first block', async () => {
    const world = await answered()
    expect(sweptBy(world, clockAt(START_MS + 2 * DAY_MS, START_MS))).toEqual([])
    expect(sweptBy(world, clockAt(START_MS + 2 * DAY_MS, null))).toEqual([])
    expect(sweptBy(world, clockAt(OLD_ENOUGH_MS, OLD_ENOUGH_MS))).toEqual([FORGET])
  })

  test.for([
    { title: 'not by the time of whoever asks it to', nowMs: START_MS, keys: [] },
    { title: 'once it is old by its own', nowMs: OLD_ENOUGH_MS, keys: ['once'] },
  ])('a wallet forgets an answered request $title', async ({ nowMs, keys }) => {
    const { reader, state } = await answered()
    const ports = { reader, timers: systemTimers(() => nowMs) } as unknown as SubWalletPorts
    expect(createSubWalletShell(ports).prepare?.(state, FORGET)).toEqual({ ...FORGET, keys })
  })

  test.for([
    { title: 'ahead', clock: clockAt(START_MS + 40 * DAY_MS, START_MS), passes: [] },
    { title: 'before the first block', clock: clockAt(START_MS, null), passes: [] },
    { title: 'borne out', clock: clockAt(START_MS, START_MS), passes: [START_MS] },
  ])('old records are looked for by a clock that is $title: $passes', async ({ clock, passes }) => {
    const begun: number[] = []
    const pass = async (nowMs: number) => void begun.push(nowMs)
    const restMs = await passIfVerified(clock, DAY_MS, pass)
    expect(begun).toEqual(passes)
    if (passes.length === 0) expect(restMs, 'it is looked again soon').toBeLessThan(10_000)
    else expect(restMs).toBe(DAY_MS)
  })
})
