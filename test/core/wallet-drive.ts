import { laneOf } from '../../actors/account/core/state.js'
import type { Effect } from '../../actors/sub-wallet/core/messages.js'
import type { SponsorUpdate } from '../../actors/sub-wallet/core/sponsored-messages.js'
import type { GasWalletId, TxId } from '../../src/domain/ids.js'
import type { Authorization } from '../../src/domain/sponsorship.js'
import { isFinal, type Transaction } from '../../src/domain/transaction.js'
import { fault } from '../../src/errors/fault.js'
import {
  CHAIN_ID,
  preparedSend,
  transaction,
  txIdOf,
  WALLET_ID,
} from '../actors/wallet-fixtures.js'
import { DrawnOutcomes } from './drawn-outcomes.js'
import { checkWallet, LogOrder } from './wallet-mirror.js'
import {
  FIRST_GAS_WALLET,
  INTENT_SECONDS,
  openWallet,
  preparedSwap,
  ROUTER,
  type WalletWorld,
} from './wallet-world.js'

type Handled = Parameters<WalletWorld['handle']>[0]

/** A gas wallet's transaction, as it was last told of. */
interface Carried {
  readonly gas: Transaction
  readonly gasWalletId: GasWalletId
}

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
/** Of what a cancellation is known by; no other transaction has such a number. */
const CANCELLATIONS_FROM = 900_000

/**
 * Drives one wallet through sends and sponsored calls in an order drawn by a seed, restarts and
 * clock steps among them, and holds it against the oracle after every command.
 */
export class WalletDrive {
  readonly world: WalletWorld
  readonly drawn: DrawnOutcomes
  readonly #capMicros: bigint
  readonly #carried = new Map<TxId, Carried>()
  readonly #expired = new Set<TxId>()
  readonly #log = new LogOrder()
  /** Of the wallet's own that were mined and have ended. */
  readonly #settled = new Set<TxId>()
  readonly #answered = new Set<number>()
  #calls = 0
  #cancellations = CANCELLATIONS_FROM

  protected constructor(world: WalletWorld, seed: number, capMicros: bigint) {
    this.world = world
    this.drawn = new DrawnOutcomes(seed)
    this.#capMicros = capMicros
  }

  static async create(seed: number, capMicros: bigint): Promise<WalletDrive> {
    return new WalletDrive(await openWallet(capMicros), seed, capMicros)
  }

  get trail(): readonly string[] {
    return this.world.trail
  }

  async handle(command: Handled, token: number | null = null): Promise<void> {
    const { events, replies, promptReplies = [] } = await this.world.handle(command, token)
    for (const { token: answered } of [...replies, ...promptReplies]) {
      if (this.#answered.has(answered)) throw new Error(`${answered} was answered twice`)
      this.#answered.add(answered)
    }
    for (const event of events) {
      if (event.type !== 'transaction-ended') continue
      if (this.world.reader.transactions.byId(event.txId)?.mined) this.#settled.add(event.txId)
    }
    this.#log.check(this.world.logged)
    checkWallet(this.world, this.#capMicros + this.drawn.beyondMicros, this.drawn.nowMs)
  }

  async step(): Promise<void> {
    const { random } = this.drawn
    const drawn = random.integer(1_000)
    if (drawn < 150) await this.#send()
    else if (drawn < 250) await this.#swap()
    else if (drawn < 270) await this.restart()
    else if (drawn < 280) this.drawn.nowMs += DAY_MS
    else if (drawn < 285) this.drawn.nowMs -= random.pick([HOUR_MS, DAY_MS])
    else if (drawn < 360) await this.#mine()
    else if (drawn < 420) await this.handle(this.drawn.head())
    else if (drawn < 500) await this.#gasWalletGoesOn()
    else if (drawn < 520) await this.#undelegate()
    else await this.#endEffect()
  }

  async restart(): Promise<void> {
    this.world.restart()
    await this.handle({ type: 'resume-sponsored' })
  }

  async #send(): Promise<void> {
    const { random, nowMs } = this.drawn
    const n = ++this.#calls
    const isNew = laneOf(this.world.state, CHAIN_ID).nextNonce === null
    const idempotency = random.chance(0.3)
      ? { key: `key-${random.integer(3)}`, bodyHash: 'body' }
      : null
    const said = { nowMs, idempotency, chainNonce: isNew ? 0 : null }
    await this.handle(preparedSend(n, BigInt(1 + random.integer(60)), said), n)
  }

  async #undelegate(): Promise<void> {
    const { random, nowMs } = this.drawn
    const chainNonce = random.chance(0.9) ? (laneOf(this.world.state, CHAIN_ID).nextNonce ?? 0) : 0
    const account = { delegated: random.chance(0.8), chainNonce, gasWei: 1n, gasMicros: 1n }
    const said = { chainId: CHAIN_ID, idleSinceMs: nowMs, account, nowMs }
    await this.handle({ type: 'prepared-undelegate', ...said })
  }

  async #swap(): Promise<void> {
    const { random, nowMs } = this.drawn
    const n = ++this.#calls
    const said = { nowMs, delegated: random.chance(0.8) }
    await this.handle(preparedSwap(n, BigInt(1 + random.integer(60)), said), n)
  }

  /** A block takes one of the wallet's own transactions, or a reorg gives one back. */
  async #mine(): Promise<void> {
    const { random, nowMs } = this.drawn
    const { state } = this.world
    if (this.#settled.size > 0 && random.chance(0.1)) {
      const txId = random.pick([...this.#settled])
      this.#settled.delete(txId)
      await this.handle({ type: 'unmined', txId, nowMs })
      return
    }
    const open = [...state.open.values()].filter(({ flight }) => flight !== 'nonce-lost')
    if (open.length === 0) return
    const { tx } = random.pick(open)
    if (tx.mined !== null && random.chance(0.2)) {
      await this.handle({ type: 'unmined', txId: tx.txId, nowMs })
      return
    }
    const mined = this.drawn.mining(tx)
    if (mined !== null) await this.handle(mined)
  }

  async #tell(txId: TxId, told: Partial<SponsorUpdate>): Promise<void> {
    const gas = told.gas ?? null
    const { state, reader } = this.world
    const tx = reader.transactions.byId(txId)
    const deadlineSeconds = Math.floor(this.drawn.nowMs / 1_000) + INTENT_SECONDS
    const stored = tx === undefined ? null : { tx, deadlineSeconds }
    const known = state.sponsored.has(txId) ? {} : { stored }
    await this.handle({
      ...{ type: 'sponsor-update', txId, gas, refusal: null, cancels: null },
      flight: gas === null || isFinal(gas.status) ? 'ended' : 'sent',
      gasWalletId: FIRST_GAS_WALLET,
      nowMs: this.drawn.nowMs,
      ...known,
      ...told,
    })
  }

  /** A gas wallet's transaction moves on, or back, and it tells. */
  async #gasWalletGoesOn(): Promise<void> {
    if (this.#carried.size === 0) return
    const [txId, carried] = this.drawn.random.pick([...this.#carried])
    const gas = this.#movedOn(carried.gas)
    if (gas === null) return
    const { gasWalletId } = carried
    this.#carried.set(txId, { gas, gasWalletId })
    await this.#tell(txId, { gas, gasWalletId })
  }

  #movedOn(gas: Transaction): Transaction | null {
    const { random, nowMs } = this.drawn
    const [{ txHash = this.drawn.hash() } = {}] = gas.attempts
    const moves = [
      'broadcast',
      'mined',
      'unmined',
      'confirmed',
      'failed',
      'dropped',
      'same',
    ] as const
    const move = random.pick(moves)
    const next = { ...gas, updatedAtMs: nowMs }
    if (isFinal(gas.status)) {
      if (gas.status === 'dropped') return null
      if (move === 'unmined') return { ...next, status: 'broadcast', mined: null }
      // Taken back and mined again, and a crash came before what was told in between.
      if (move !== 'confirmed' && move !== 'failed') return null
    }
    switch (move) {
      case 'broadcast':
        return { ...next, status: 'broadcast' }
      case 'mined':
        return { ...next, status: 'broadcast', mined: this.drawn.block(txHash, true) }
      case 'unmined':
        return { ...next, mined: null }
      case 'confirmed':
      case 'failed':
        return { ...next, status: move, mined: this.drawn.block(txHash, move === 'confirmed') }
      case 'dropped':
        return { ...next, status: move, error: { code: 'CHAIN_REJECTED', message: '' } }
      case 'same':
        return next
    }
  }

  async #endEffect(): Promise<void> {
    const { pending } = this.world
    if (pending.length === 0) return
    const [effect] = pending.splice(this.drawn.random.integer(pending.length), 1)
    if (effect !== undefined) await this.#end(effect)
  }

  async #end(effect: Effect): Promise<void> {
    const { random, nowMs } = this.drawn
    const refusal = random.chance(0.1) ? fault('ADDRESS_BLOCKED') : null
    switch (effect.type) {
      case 'screen': {
        const { txId } = effect.draft
        const clean = { screenedAgainst: [], requoted: null } as const
        return this.handle({ type: 'screened', txId, refusal, ...clean, nowMs })
      }
      case 'sign':
        return this.handle(this.drawn.signing(effect.draft.txId, effect.nonce))
      case 'broadcast': {
        const isMined = this.world.state.open.get(effect.tx.txId)?.tx.mined != null
        return this.handle(this.drawn.broadcast(effect.tx, isMined))
      }
      case 'value-receipt':
        return this.handle(this.drawn.receipt(effect.tx, effect.mined))
      case 'replace':
        return this.handle(this.drawn.replacing(effect.tx, effect.purpose))
      case 'screen-sponsored': {
        const { txId } = effect.draft
        return this.handle({
          type: 'sponsored-screened',
          txId,
          refusal,
          screenedAgainst: [],
          nowMs,
        })
      }
      case 'sign-intent':
        return this.#signIntent(effect)
      case 'submit-job':
        return this.#takeJob(effect)
      case 'cancel-intent':
        return this.#cancel(effect.sponsorship.txId)
      case 'tell-recorded': {
        const { txId, runningKeys, blockHash } = effect
        return this.handle({ type: 'end-recorded', txId, runningKeys, blockHash })
      }
      case 'await-deadline':
        return this.#passDeadline(effect.txId)
      case 'read-end': {
        const { txId } = effect
        const stored = this.world.reader.transactions.byId(txId) ?? null
        return this.handle({ type: 'end-read', txId, stored, nowMs })
      }
      case 'end-delegation': {
        const { chainId } = effect
        const stage = random.pick(['refused', 'open', 'over', 'over'] as const)
        const txId = txIdOf(++this.#calls)
        const minedAt = null
        await this.handle({ type: 'undelegation-update', txId, chainId, stage, minedAt })
        // Followed to its end, as every transaction of a gas wallet.
        if (stage === 'open')
          await this.handle({ type: 'undelegation-update', txId, chainId, stage: 'over', minedAt })
        return
      }
      case 'check-delegation': {
        const delegated = random.chance(0.7)
        const { chainId } = effect
        const type = 'delegation-checked'
        return this.handle({ type, chainId, delegated, chainNonce: 0, nowMs })
      }
      default:
    }
  }

  async #signIntent({
    draft: { txId },
    authorization: wanted,
  }: Extract<Effect, { type: 'sign-intent' }>): Promise<void> {
    const { random, nowMs } = this.drawn
    if (random.chance(0.15)) {
      const why = fault('COSIGNER_UNAVAILABLE')
      const chainNonce = null
      return this.handle({ type: 'intent-failed', txId, fault: why, chainNonce, nowMs })
    }
    const authorization: Authorization | null =
      wanted === null || 'r' in wanted
        ? wanted
        : { chainId: CHAIN_ID, address: ROUTER, ...wanted, yParity: 0, r: '0x01', s: '0x01' }
    const deadlineSeconds = Math.floor(nowMs / 1_000) + INTENT_SECONDS
    const signed = { calldata: '0x', authorization, deadlineSeconds } as const
    return this.handle({ type: 'intent-signed', txId, signed, nowMs })
  }

  async #takeJob({ sponsorship }: Extract<Effect, { type: 'submit-job' }>): Promise<void> {
    const { random } = this.drawn
    const { txId, gasWalletId } = sponsorship
    const known = this.#carried.get(txId)
    if (known !== undefined) return this.#tell(txId, known)
    const why = fault('CHAIN_UNAVAILABLE')
    const drawn = random.integer(20)
    if (drawn < 3)
      return this.#tell(txId, { gasWalletId, refusal: { of: 'gas-wallet', fault: why } })
    if (drawn < 6 || this.#expired.has(txId))
      return this.#tell(txId, { gasWalletId, refusal: { of: 'call', fault: why } })
    const gas = this.#gasTransaction(txId)
    this.#carried.set(txId, { gas, gasWalletId })
    return this.#tell(txId, { gas, gasWalletId })
  }

  /** From then on no gas wallet takes it, since its execution would revert. */
  #passDeadline(txId: TxId): Promise<void> {
    this.#expired.add(txId)
    const isCarried = this.#carried.has(txId)
    return this.handle({ type: 'deadline-passed', txId, isCarried, nowMs: this.drawn.nowMs })
  }

  #gasTransaction(txId: TxId): Transaction {
    const { nowMs } = this.drawn
    const fees = { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n }
    return transaction(1, {
      ...{ txId, subWalletId: WALLET_ID, updatedAtMs: nowMs },
      attempts: [{ ...this.drawn.signed(), ...fees }],
    })
  }

  async #cancel(cancels: TxId): Promise<void> {
    if (this.drawn.random.chance(0.5)) return
    const txId = txIdOf(++this.#cancellations)
    const mined = this.drawn.block(this.drawn.hash(), true)
    const gas: Transaction = { ...this.#gasTransaction(txId), status: 'confirmed', mined }
    await this.#tell(txId, { gas, cancels })
  }
}
