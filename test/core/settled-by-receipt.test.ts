import { describe, expect, test } from 'vitest'
import type { Command } from '../../actors/sub-wallet/core/messages.js'
import { valueReceipt } from '../../actors/sub-wallet/effects/value-receipt.js'
import type { MinedIn } from '../../src/domain/transaction.js'
import type { Shown } from '../../src/valuation/receipt-valuer.js'
import {
  GAS_MICROS,
  preparedSend,
  START_MS,
  transaction,
  txIdOf,
} from '../actors/wallet-fixtures.js'
import { VirtualTimers } from '../support/virtual-timers.js'
import { checkWallet } from './wallet-mirror.js'
import { openWallet, spentBy, unmined, type WalletWorld } from './wallet-world.js'

const nowMs = START_MS
const txId = txIdOf(1)
const CAP = 1_000n
const VALUE = 50n
/** As MINED costs it. */
const GAS = 1n
const MINED: MinedIn = {
  ...{ txHash: '0x01', blockNumber: 1, blockHash: '0x0b' },
  ...{ outcome: 'success', feeWei: 1n },
}
const ELSEWHERE: MinedIn = { ...MINED, blockNumber: 2, blockHash: '0x0c' }

type Kind = 'call' | 'plain transfer'

/** A wallet whose first send is out. @param predictedMicros by the logs of its run */
async function sent(kind: Kind, predictedMicros = 0n): Promise<WalletWorld> {
  const world = await openWallet(CAP)
  const { quote, ...send } = preparedSend(1, VALUE, { nowMs })
  if (!quote.ok) throw new Error('no quote')
  const seen = kind === 'call' ? { after: [], predictedMicros } : {}
  await world.handle({ ...send, quote: { ...quote, basis: { ...quote.basis, ...seen } } }, 1)
  const screened = { refusal: null, screenedAgainst: [], requoted: null } as const
  await world.handle({ type: 'screened', txId, ...screened, nowMs })
  const bytes = { rawTransaction: '0x01', intentId: '0x01', signedAtMs: nowMs } as const
  await world.handle({
    ...{ type: 'signed', txId, nonce: 0, nowMs },
    signed: { txHash: MINED.txHash, ...bytes },
  })
  world.pending = []
  return world
}

const mined = (world: WalletWorld, where = MINED) =>
  world.handle({ type: 'mined', txId, mined: where, nowMs })
const confirmed = (world: WalletWorld, where = MINED) =>
  world.handle({ type: 'confirmed', txId, mined: where, nowMs })
const takenBack = (world: WalletWorld) => unmined(world, txId, nowMs)

async function valued(world: WalletWorld, shownMicros: bigint, blockHash = MINED.blockHash) {
  await world.handle({
    type: 'receipt-valued',
    txId,
    blockHash,
    shownMicros,
    unvalued: null,
    nowMs,
  })
  checkWallet(world, CAP + shownMicros, nowMs)
}

const asked = ({ pending }: WalletWorld) =>
  pending.filter(({ type }) => type === 'value-receipt').length
const record = ({ reader }: WalletWorld) => reader.transactions.byId(txId)
const used = (world: WalletWorld) => spentBy(world).dayMicros

describe('a call is settled to what its receipt shows', () => {
  test('beyond what its run had shown, past the cap too, which is closed from then on', async () => {
    const world = await sent('call', 30n)
    await mined(world)
    await valued(world, 5_030n)
    // Before it is final: nothing more is let through meanwhile.
    expect(used(world)).toBe(VALUE + GAS_MICROS + 5_000n)
    const { replies } = await world.handle(preparedSend(2, 1n, { nowMs }), 2)
    expect(replies).toMatchObject([{ result: { ok: false, fault: { code: 'LIMIT_EXCEEDED' } } }])
    expect(world.logged.filter(({ type }) => type === 'limit.reached')).toHaveLength(4)
    await confirmed(world)
    expect(record(world)).toMatchObject({ status: 'confirmed', spentMicros: VALUE + GAS + 5_000n })
    expect(spentBy(world)).toMatchObject({ dayMicros: VALUE + GAS + 5_000n, reservedMicros: 0n })
  })

  test('and to no less than it counted, where the receipt shows no more', async () => {
    const world = await sent('call', 30n)
    await mined(world)
    await valued(world, 10n)
    await confirmed(world)
    expect(record(world)).toMatchObject({ status: 'confirmed', spentMicros: VALUE + GAS })
  })

  test('before it ends, however late that comes', async () => {
    const world = await sent('call')
    await confirmed(world)
    expect(asked(world)).toBe(1)
    expect(record(world)).toMatchObject({ status: 'broadcast', mined: MINED })
    await valued(world, 400n)
    expect(record(world)).toMatchObject({ status: 'confirmed', spentMicros: VALUE + GAS + 400n })
  })

  test('while a plain transfer and what reverts ask nobody', async () => {
    const plain = await sent('plain transfer')
    await confirmed(plain)
    expect(record(plain)).toMatchObject({ status: 'confirmed', spentMicros: VALUE + GAS })
    const reverted = await sent('call')
    await confirmed(reverted, { ...MINED, outcome: 'reverted' })
    expect(record(reverted)).toMatchObject({ status: 'failed', spentMicros: GAS })
    expect([asked(plain), asked(reverted)]).toEqual([0, 0])
  })

  test('and what cannot be counted is left to the audit trail', async () => {
    const world = await sent('call')
    await mined(world)
    const said = { shownMicros: 0n, unvalued: 'stale' }
    await world.handle({
      ...{ type: 'receipt-valued', txId, blockHash: MINED.blockHash, nowMs },
      ...said,
    })
    expect(world.pending.at(-1)).toMatchObject({ type: 'unvalued', tx: { txId }, reason: 'stale' })
  })
})

test('what was counted by a clock that was ahead empties no window of now', async () => {
  const world = await sent('call')
  const earlierMs = nowMs - 40 * 86_400_000
  const second = txIdOf(2)
  await world.handle(preparedSend(2, 30n, { nowMs: earlierMs }), 2)
  const screened = { refusal: null, screenedAgainst: [], requoted: null } as const
  await world.handle({ type: 'screened', txId: second, ...screened, nowMs: earlierMs })
  const bytes = { rawTransaction: '0x02', intentId: '0x02', signedAtMs: earlierMs } as const
  await world.handle({
    ...{ type: 'signed', txId: second, nonce: 1, nowMs: earlierMs },
    signed: { txHash: '0x02', ...bytes },
  })
  const before = spentBy(world, earlierMs)
  await mined(world)
  await valued(world, 5n)
  const after = spentBy(world, earlierMs)
  expect(after.dayMicros).toBe(before.dayMicros + 5n)
  expect(after.monthMicros).toBe(before.monthMicros + 5n)
})

describe('a restart', () => {
  test('keeps what a receipt showed', async () => {
    const world = await sent('call')
    await mined(world)
    await valued(world, 400n)
    world.restart()
    expect(used(world)).toBe(VALUE + GAS_MICROS + 400n)
    await confirmed(world)
    expect(asked(world)).toBe(0)
    expect(record(world)).toMatchObject({ status: 'confirmed', spentMicros: VALUE + GAS + 400n })
  })

  test('while a receipt is asked for has it asked for again', async () => {
    const world = await sent('call')
    await confirmed(world)
    world.restart()
    await world.handle({ type: 'resume', nowMs })
    expect(world.pending).toMatchObject([{ type: 'watch', tx: { txId } }])
    await confirmed(world)
    expect(asked(world)).toBe(1)
    await valued(world, 400n)
    expect(record(world)).toMatchObject({ status: 'confirmed', spentMicros: VALUE + GAS + 400n })
    expect(world.state.receipts.size).toBe(0)
  })
})

describe('a reorg', () => {
  test('gives back what the receipt showed, and the next block is asked again', async () => {
    const world = await sent('call')
    await mined(world)
    await valued(world, 400n)
    await takenBack(world)
    checkWallet(world, CAP, nowMs)
    expect(used(world)).toBe(VALUE + GAS_MICROS)
    expect(record(world)).not.toHaveProperty('beyondMicros')
    await mined(world, ELSEWHERE)
    expect(asked(world)).toBe(2)
    await valued(world, 7n, ELSEWHERE.blockHash)
    await confirmed(world, ELSEWHERE)
    expect(record(world)).toMatchObject({ status: 'confirmed', spentMicros: VALUE + GAS + 7n })
  })

  test('of a block that was final gives it back as well', async () => {
    const world = await sent('call')
    await confirmed(world)
    await valued(world, 400n)
    await takenBack(world)
    checkWallet(world, CAP, nowMs)
    expect(used(world)).toBe(VALUE + GAS_MICROS)
    expect(record(world)).toMatchObject({ status: 'broadcast', mined: null })
  })

  test('that moves it to another block without a word gives it back too', async () => {
    const world = await sent('call')
    await mined(world)
    await valued(world, 400n)
    await mined(world, ELSEWHERE)
    checkWallet(world, CAP, nowMs)
    expect(used(world)).toBe(VALUE + GAS_MICROS)
  })

  test('is not overtaken by a receipt of the block that is gone', async () => {
    const world = await sent('call')
    await confirmed(world)
    await takenBack(world)
    await valued(world, 400n)
    expect(used(world)).toBe(VALUE + GAS_MICROS)
    expect(record(world)).toMatchObject({ status: 'broadcast', mined: null })
    await mined(world, ELSEWHERE)
    await valued(world, 400n)
    expect(used(world)).toBe(VALUE + GAS_MICROS)
  })
})

describe('a receipt that nobody has yet', () => {
  const effect = { type: 'value-receipt', tx: transaction(1), mined: MINED } as const

  async function told(answers: readonly (Shown | null | Error)[]): Promise<readonly Command[]> {
    const timers = new VirtualTimers(START_MS)
    const heard: Command[] = []
    const left = [...answers]
    const receipts = {
      async shownBy() {
        const answer = left.shift() ?? null
        if (answer instanceof Error) throw answer
        return answer
      },
    }
    const ports = { receipts, timers, log: { warn: () => undefined } }
    const ended = valueReceipt(ports, effect, (command) => heard.push(command))
    await timers.pass(3_600_000)
    await ended
    return heard
  }

  test('is read again until a node has it', async () => {
    const shown = { shownMicros: 400n, unvalued: null }
    expect(await told([null, new Error('no node'), shown])).toMatchObject([
      { type: 'receipt-valued', txId, blockHash: MINED.blockHash, ...shown },
    ])
  })

  test('waits for nodes that are out of reach for hours', async () => {
    const shown = { shownMicros: 400n, unvalued: null }
    const outage = Array.from({ length: 100 }, () => new Error('no node'))
    expect(await told([...outage, shown])).toMatchObject([shown])
  })

  test('and never comes does not hold the call for ever', async () => {
    expect(await told([])).toMatchObject([
      { shownMicros: 0n, unvalued: 'the receipt could not be read' },
    ])
  })
})
