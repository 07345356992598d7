import { describe, expect, test } from 'vitest'
import type { Command } from '../../actors/sub-wallet/core/messages.js'
import { awaitDeadline } from '../../actors/sub-wallet/effects/delegation.js'
import type { ChainAccess } from '../../src/chains/access.js'
import { CHAIN_ID, START_MS, txIdOf } from '../actors/wallet-fixtures.js'
import { VirtualTimers } from '../support/virtual-timers.js'
import { INTENT_SECONDS, openWallet, spentBy, submitJob } from './wallet-world.js'

const txId = txIdOf(1)
const DEADLINE_MS = START_MS + INTENT_SECONDS * 1_000
/** The longest time by which our chains' blocks may be taken back, at least a minute. */
const MARGIN_MS = 100_000
const nowMs = DEADLINE_MS + MARGIN_MS

describe('a call that a gas wallet was asked to carry and said nothing about', () => {
  test('is given up once its deadline has passed and no transaction carries it', async () => {
    const world = await openWallet(1_000n)
    await submitJob(world, 1, 400n)
    expect(spentBy(world).reservedMicros).toBe(400n)
    expect(world.pending).toContainEqual({
      ...{ type: 'await-deadline', stage: 'handed', txId, chainId: CHAIN_ID },
      deadlineSeconds: DEADLINE_MS / 1_000,
    })
    await world.handle({ type: 'deadline-passed', txId, isCarried: false, nowMs })
    expect(spentBy(world).reservedMicros).toBe(0n)
    expect(world.replies.at(-1)).toMatchObject({ token: 1, result: { ok: false } })
    expect(world.loaded().sponsored.size).toBe(0)
  })

  test('is asked after, and keeps its reservation, when a transaction carries it', async () => {
    const world = await openWallet(1_000n)
    await submitJob(world, 1, 400n)
    world.pending = []
    await world.handle({ type: 'deadline-passed', txId, isCarried: true, nowMs })
    expect(world.pending.map(({ type }) => type)).toEqual(['submit-job'])
    expect(spentBy(world).reservedMicros).toBe(400n)
  })

  test('is waited for again after a start', async () => {
    const world = await openWallet(1_000n)
    await submitJob(world, 1, 400n)
    world.restart()
    await world.handle({ type: 'resume-sponsored' })
    expect(world.pending.map(({ type }) => type).sort()).toEqual(['await-deadline', 'submit-job'])
  })

  test('is not given up before blocks that may be taken back are past the deadline', async () => {
    const world = await openWallet(1_000n)
    const heads = [DEADLINE_MS + MARGIN_MS, DEADLINE_MS + MARGIN_MS + 1]
    const seen: number[] = []
    const chain = {
      config: { confirmations: 50, block_time_ms: MARGIN_MS / 50 },
      fees: {
        latest() {
          const timestampMs = heads[seen.length] ?? Number.NaN
          seen.push(timestampMs)
          return { head: { timestampMs } }
        },
      },
    } as unknown as ChainAccess
    const timers = new VirtualTimers(DEADLINE_MS)
    const chains = new Map([[CHAIN_ID, chain]])
    const ports = { chains, reader: world.reader, timers, log: { warn: () => undefined } }
    const told: Command[] = []
    const asked = { txId, chainId: CHAIN_ID, deadlineSeconds: DEADLINE_MS / 1_000 }
    const gone = awaitDeadline(
      ports,
      { type: 'await-deadline', stage: 'handed', ...asked },
      (command) => told.push(command),
    )
    await timers.pass(MARGIN_MS - 1)
    expect(seen).toEqual([])
    await timers.pass(1)
    expect(seen).toEqual(heads.slice(0, 1))
    expect(told).toEqual([])
    await timers.pass(MARGIN_MS)
    await gone
    expect(timers.waiting).toBe(0)
    expect(seen).toEqual(heads)
    expect(told).toEqual([
      { type: 'deadline-passed', txId, isCarried: false, nowMs: expect.any(Number) },
    ])
  })

  test('is given up on a thread on which nobody follows the chain, too', async () => {
    const world = await openWallet(1_000n)
    const warned: string[] = []
    let asked = 0
    const chain = {
      config: { confirmations: 1, block_time_ms: 1_000 },
      fees: {
        latest: () => null,
        async quote() {
          if (++asked === 1) throw new Error('no node answers')
          return { head: { timestampMs: DEADLINE_MS + MARGIN_MS } }
        },
      },
    } as unknown as ChainAccess
    const timers = new VirtualTimers(DEADLINE_MS)
    const log = { warn: (_: object, message: string) => void warned.push(message) }
    const chains = new Map([[CHAIN_ID, chain]])
    const told: Command[] = []
    const ids = { txId, chainId: CHAIN_ID, deadlineSeconds: DEADLINE_MS / 1_000 }
    const gone = awaitDeadline(
      { chains, reader: world.reader, timers, log },
      { type: 'await-deadline', stage: 'handed', ...ids },
      (command) => told.push(command),
    )
    await timers.pass(2 * MARGIN_MS)
    await gone
    expect(warned).toEqual(['the newest block could not be asked for'])
    expect(told).toMatchObject([{ type: 'deadline-passed', txId }])
  })
})
