import { describe, expect, test } from 'vitest'
import { gasUseOf } from '../../actors/sub-wallet/core/gas-budget-gate.js'
import type { SponsorUpdate } from '../../actors/sub-wallet/core/sponsored-messages.js'
import type { TxId } from '../../src/domain/ids.js'
import type { MinedIn, Transaction } from '../../src/domain/transaction.js'
import { fault } from '../../src/errors/fault.js'
import {
  ATTEMPT,
  NATIVE_PRICE,
  START_MS,
  transaction,
  txIdOf,
  WEI_PER_MICRO,
} from '../actors/wallet-fixtures.js'
import { seededRandom } from '../faults/random.js'
import { FIRST_GAS_WALLET, openWallet, preparedSwap, type WalletWorld } from './wallet-world.js'

/** The gas of sponsored calls is the operator's money: what one wallet may cost in a day, whatever becomes of its calls. */

const CAP = 10n ** 9n
const LIMIT = 100n
const INTENT_MS = 180_000
const DAY_MS = 86_400_000
const CANCELLATIONS_FROM = 900_000
const HISTORIES = 60
const STEPS = 60
const PRICED = { valueMicros: 1n, gasMicros: 0n, nativePrice: NATIVE_PRICE, nativePriceDecimals: 5 }

class GasWorld {
  world: WalletWorld
  nowMs = START_MS
  readonly limits: { walletMicros: bigint; userMicros: bigint }
  readonly #othersMicros: () => bigint

  private constructor(world: WalletWorld, limits: GasWorld['limits'], othersMicros: () => bigint) {
    this.world = world
    this.limits = limits
    this.#othersMicros = othersMicros
    this.#bound()
  }

  static async open(limits: GasWorld['limits'], othersMicros = () => 0n): Promise<GasWorld> {
    return new GasWorld(await openWallet(CAP), limits, othersMicros)
  }

  /** As the shell says them before each decision. */
  #bound(): void {
    this.world.state.gasBudget = { limits: this.limits, ofOthers: this.#othersMicros }
  }

  restart(): void {
    this.world.restart()
    this.#bound()
  }

  get use() {
    return gasUseOf(this.world.state, this.nowMs)
  }

  entry(txId: TxId) {
    return this.world.state.sponsored.get(txId)
  }

  /** @returns false where a budget refused it */
  async swap(n: number, gasMicros: bigint): Promise<boolean> {
    const { nowMs } = this
    const txId = txIdOf(n)
    const swap = preparedSwap(n, 1n, { nowMs, gasMicros })
    const quote = { ...swap.quote, valuation: PRICED }
    await this.world.handle({ ...swap, quote } as typeof swap, n)
    if (this.entry(txId) === undefined) return false
    const clean = { refusal: null, screenedAgainst: [] }
    await this.world.handle({ type: 'sponsored-screened', txId, ...clean, nowMs })
    const deadlineSeconds = Math.floor((nowMs + INTENT_MS) / 1_000)
    const signed = { calldata: '0x', authorization: null, deadlineSeconds } as const
    await this.world.handle({ type: 'intent-signed', txId, signed, nowMs })
    return true
  }

  async tell(txId: TxId, told: Partial<SponsorUpdate>): Promise<void> {
    await this.world.handle({
      ...{ type: 'sponsor-update', txId, gas: null, flight: 'sent', refusal: null },
      ...{ gasWalletId: FIRST_GAS_WALLET, cancels: null, nowMs: this.nowMs, ...told },
    })
  }

  /** Its gas wallet has its transaction in a block, for good. */
  async mined(txId: TxId, outcome: MinedIn['outcome'], paidMicros: bigint): Promise<void> {
    const status = outcome === 'success' ? 'confirmed' : 'failed'
    const gas = transaction(1, { ...CARRIED, txId, status, mined: blockOf(outcome, paidMicros) })
    await this.tell(txId, { gas, flight: 'ended' })
  }

  async cancellation(cancels: TxId, said: Partial<Transaction>): Promise<void> {
    const gas = transaction(CANCELLATIONS_FROM, { ...CARRIED, ...said })
    await this.tell(txIdOf(CANCELLATIONS_FROM), { cancels, gas })
  }

  async deadlinePassed(txId: TxId, isCarried: boolean): Promise<void> {
    await this.world.handle({ type: 'deadline-passed', txId, isCarried, nowMs: this.nowMs })
  }
}

const CARRIED = { attempts: [ATTEMPT] } as const
const blockOf = (outcome: MinedIn['outcome'], paidMicros: bigint): MinedIn => ({
  ...{ txHash: ATTEMPT.txHash, blockNumber: 1, blockHash: '0x0b', outcome },
  feeWei: paidMicros * WEI_PER_MICRO,
})
/** 100,000 gas at twice the fee of the call. */
const CANCEL_MICROS = (100_000n * ATTEMPT.maxFeePerGas * 2n) / WEI_PER_MICRO

describe('a sponsored call', () => {
  test('holds what it may cost, and then counts what its receipt shows', async () => {
    const gas = await GasWorld.open({ walletMicros: LIMIT, userMicros: LIMIT })
    await gas.swap(1, 60n)
    expect(gas.use).toMatchObject({ wallet: { usedMicros: 60n }, heldMicros: 60n })
    expect(await gas.swap(2, 41n)).toBe(false)
    expect(gas.world.replies.at(-1)?.result).toMatchObject({
      fault: { code: 'RATE_LIMITED', details: { budget: 'sponsored_gas', scope: 'sub_wallet' } },
    })
    await gas.mined(txIdOf(1), 'success', 7n)
    expect(gas.use).toMatchObject({ wallet: { usedMicros: 7n }, heldMicros: 0n })
    gas.restart()
    expect(gas.use).toMatchObject({ wallet: { usedMicros: 7n }, heldMicros: 0n })
    expect(await gas.swap(3, 94n)).toBe(false)
    expect(await gas.swap(4, 93n)).toBe(true)
  })

  test('is refused for what other wallets of its user have used', async () => {
    const gas = await GasWorld.open({ walletMicros: LIMIT, userMicros: 2n * LIMIT }, () => 150n)
    expect(await gas.swap(1, 51n)).toBe(false)
    expect(gas.world.replies.at(-1)?.result).toMatchObject({
      fault: { code: 'RATE_LIMITED', details: { scope: 'user', used_usd: '0.00015' } },
    })
    expect(await gas.swap(2, 50n)).toBe(true)
  })

  test('is not carried for more than it may hold, once its gas wallet has estimated it', async () => {
    const gas = await GasWorld.open({ walletMicros: LIMIT, userMicros: LIMIT })
    await gas.swap(1, 10n)
    const needing = (micros: bigint): Partial<SponsorUpdate> => ({
      refusal: {
        ...{ of: 'call', fault: fault('RATE_LIMITED') },
        neededWei: micros * WEI_PER_MICRO,
      },
      flight: 'ended',
    })
    await gas.tell(txIdOf(1), needing(90n))
    expect(gas.use.heldMicros).toBe(90n)
    await gas.tell(txIdOf(1), needing(101n))
    expect(gas.entry(txIdOf(1))).toBeUndefined()
    expect(gas.use).toMatchObject({ wallet: { usedMicros: 0n }, heldMicros: 0n })
  })
})

describe('the cancellation of a call that failed', () => {
  async function failed(): Promise<GasWorld> {
    const gas = await GasWorld.open({ walletMicros: LIMIT, userMicros: LIMIT })
    await gas.swap(1, 60n)
    await gas.mined(txIdOf(1), 'reverted', 7n)
    expect(gas.use).toMatchObject({
      wallet: { usedMicros: 7n + CANCEL_MICROS },
      heldMicros: CANCEL_MICROS,
    })
    return gas
  }

  test('holds its gas until its receipt shows what it cost', async () => {
    const gas = await failed()
    gas.restart()
    await gas.cancellation(txIdOf(1), { status: 'broadcast' })
    expect(gas.use.heldMicros).toBe(CANCEL_MICROS)
    await gas.cancellation(txIdOf(1), { status: 'confirmed', mined: blockOf('success', 2n) })
    expect(gas.use).toMatchObject({ wallet: { usedMicros: 9n }, heldMicros: 0n })
  })

  test.each([[true], [false]])(
    'that is open at the deadline holds nothing from then on, and counts as paid that day (restart: %s)',
    async (isRestarted) => {
      const gas = await failed()
      await gas.cancellation(txIdOf(1), { status: 'broadcast' })
      if (isRestarted) gas.restart()
      gas.nowMs += INTENT_MS + 1_000
      await gas.deadlinePassed(txIdOf(1), true)
      const used = 7n + CANCEL_MICROS
      expect(gas.use).toMatchObject({ wallet: { usedMicros: used }, heldMicros: 0n })
      // What is heard of it later neither holds nor counts it again.
      for (const status of ['broadcast', 'confirmed', 'failed'] as const) {
        const mined = status === 'broadcast' ? null : blockOf('success', 2n)
        await gas.cancellation(txIdOf(1), { status, mined })
        expect(gas.use).toMatchObject({ wallet: { usedMicros: used }, heldMicros: 0n })
      }
      if (isRestarted) gas.restart()
      expect(gas.use).toMatchObject({ wallet: { usedMicros: used }, heldMicros: 0n })
      gas.nowMs += DAY_MS
      expect(gas.use.wallet.usedMicros).toBe(0n)
    },
  )

  test('is not asked for where the budget has no room for it', async () => {
    const gas = await GasWorld.open({ walletMicros: LIMIT, userMicros: LIMIT })
    await gas.swap(1, LIMIT)
    await gas.mined(txIdOf(1), 'reverted', LIMIT)
    expect(gas.use).toMatchObject({ wallet: { usedMicros: LIMIT }, heldMicros: 0n })
    expect(gas.world.pending.some(({ type }) => type === 'cancel-intent')).toBe(false)
  })
})

test('whatever becomes of many calls, a wallet costs no more in a day than its budget', async () => {
  let [refused, paid, restarts] = [0, 0n, 0]
  for (let seed = 1; seed <= HISTORIES; seed++) {
    const random = seededRandom(seed)
    const gas = await GasWorld.open({ walletMicros: LIMIT, userMicros: 10n * LIMIT })
    const paidByDay = new Map<number, bigint>()
    /** What a gas wallet has paid is a fact of the chain, counted by nobody here but this model. */
    const pay = (micros: bigint) => {
      const day = Math.floor(gas.nowMs / DAY_MS)
      paidByDay.set(day, (paidByDay.get(day) ?? 0n) + micros)
      paid += micros
    }
    let n = 0
    for (let step = 0; step < STEPS; step++) {
      gas.nowMs += random.integer(20_000)
      if (random.chance(0.01)) gas.nowMs += DAY_MS
      const all = [...gas.world.state.sponsored.values()]
      for (const { txId, phase, sponsorship } of all) {
        const isPast = (sponsorship?.deadlineSeconds ?? 0) * 1_000 < gas.nowMs
        if (isPast && (phase === 'held' || phase === 'handed')) {
          await gas.deadlinePassed(txId, false)
        }
      }
      const open = [...gas.world.state.sponsored.values()]
      const drawn = random.integer(10)
      if (drawn < 5 || open.length === 0) {
        if (!(await gas.swap(++n, BigInt(1 + random.integer(40))))) refused++
      } else if (drawn < 9) {
        const { txId, phase, sponsorship } = random.pick(open)
        const upTo = (micros: bigint) => BigInt(random.integer(Number(micros) + 1))
        if (phase === 'handed' || phase === 'sent') {
          const cost = upTo(sponsorship?.gasMicros ?? 0n)
          pay(cost)
          await gas.mined(txId, random.chance(0.5) ? 'success' : 'reverted', cost)
        } else if (phase === 'held' && sponsorship?.cancelMicros !== undefined) {
          const cost = upTo(sponsorship.cancelMicros)
          pay(cost)
          const status = random.chance(0.7) ? 'confirmed' : 'failed'
          const outcome = status === 'confirmed' ? 'success' : 'reverted'
          await gas.cancellation(txId, { status, mined: blockOf(outcome, cost) })
        }
      } else {
        const before = gas.use
        gas.restart()
        restarts++
        expect(gas.use, `seed ${seed}: after a restart`).toEqual(before)
      }
      const { wallet } = gas.use
      expect(wallet.usedMicros <= LIMIT, `seed ${seed}, step ${step}: ${wallet.usedMicros}`).toBe(
        true,
      )
      const today = paidByDay.get(Math.floor(gas.nowMs / DAY_MS)) ?? 0n
      expect(today <= wallet.usedMicros, `seed ${seed}, step ${step}: ${today} were paid`).toBe(
        true,
      )
    }
  }
  expect([refused > HISTORIES, paid > LIMIT, restarts > HISTORIES]).toEqual([true, true, true])
})
