import { laneOf } from '../../actors/account/core/state.js'
import type { Reply } from '../../actors/runtime/actor.js'
import { decide } from '../../actors/sub-wallet/core/decide.js'
import type { Command, Effect } from '../../actors/sub-wallet/core/messages.js'
import { countersOf, type SubWalletState } from '../../actors/sub-wallet/core/state.js'
import { loadState, recordEvents } from '../../actors/sub-wallet/record.js'
import type { TxId } from '../../src/domain/ids.js'
import { type AccountTransaction, isFinal, type Transaction } from '../../src/domain/transaction.js'
import { fault } from '../../src/errors/fault.js'
import { attachEventSequence, createEventSequenceBuffer } from '../../src/store/event-sequence.js'
import { localCommits } from '../../src/store/local-commits.js'
import { createReader } from '../../src/store/reader.js'
import { WriteBatch } from '../../src/store/write-batch.js'
import { ChainModel } from './chain-model.js'
import { createMemoryEnvironment } from './memory-environment.js'
import { QuorumModel } from './quorum-model.js'
import {
  apiKey,
  CHAIN_ID,
  GAS_MICROS,
  LINEAGE_ID,
  preparedSend,
  START_MS,
  txIdOf,
  WALLET_ID,
  wallet,
} from './wallet-fixtures.js'

/** How a caller of a send was answered, or that it still waits. */
type Fate = 'waiting' | 'sent' | 'refused' | 'lost in a restart'

/**
 * One sub-wallet's actor, its store, its quorum and its chain, driven step by step. Every step
 * checks what must always hold; `settle` lets the dust fall and checks what must hold then.
 */
export class WalletWorld {
  readonly capMicros: bigint
  readonly chain = new ChainModel()
  readonly #quorum = new QuorumModel()
  readonly #environment = createMemoryEnvironment()
  readonly #reader = createReader(this.#environment)
  readonly #sequence = attachEventSequence(createEventSequenceBuffer(), () => true)
  readonly #fates = new Map<TxId, Fate>()
  #state: SubWalletState
  #pending: Effect[] = []
  #repeatable: Command[] = []
  #sends = 0
  #nowMs = START_MS
  #diesAnswering = false

  private constructor(capMicros: bigint) {
    this.capMicros = capMicros
    this.#state = loadState(this.#reader, WALLET_ID)
  }

  static async create(capMicros: bigint): Promise<WalletWorld> {
    const world = new WalletWorld(capMicros)
    await world.#handle({ type: 'create-wallet', wallet })
    await world.#handle({ type: 'register-key', key: apiKey({ dailyLimitMicros: capMicros }) })
    return world
  }

  async send(micros: bigint): Promise<TxId> {
    const n = ++this.#sends
    const known = laneOf(this.#state, CHAIN_ID).nextNonce !== null
    this.#fates.set(txIdOf(n), 'waiting')
    const chainNonce = known ? null : this.chain.nonce
    await this.#handle(preparedSend(n, micros, { nowMs: this.#nowMs, chainNonce }), n)
    return txIdOf(n)
  }

  /** Lets one of the effects under way come to its end. */
  async finishEffect(which: number, choice: number): Promise<void> {
    const [effect] = this.#pending.splice(which % Math.max(1, this.#pending.length), 1)
    const outcome = effect === undefined ? null : this.#outcomeOf(effect, choice)
    if (outcome === null) return
    this.#repeatable.push(outcome)
    await this.#handle(outcome)
  }

  /** An outcome that is told twice, as a network may. */
  async repeatOutcome(which: number): Promise<void> {
    const command = this.#repeatable[which % Math.max(1, this.#repeatable.length)]
    if (command !== undefined) await this.#handle(command)
  }

  /** The next answer that waits for no commit is the last that happens before a kill -9. */
  dieAnswering(): void {
    this.#diesAnswering = true
  }

  /** A block of up to `max` transactions. Blind: the watcher misses it. */
  async block(max: number, watcher: 'sees' | 'misses'): Promise<void> {
    this.chain.mine(max)
    if (watcher === 'sees') await this.#tellUpdates()
  }

  async useFromOutside(): Promise<void> {
    this.chain.useFromOutside()
    await this.#tellUpdates()
  }

  async reorg(keep: boolean): Promise<void> {
    for (const txId of this.chain.reorg(keep)) {
      if (this.#state.open.has(txId)) {
        await this.#handle({ type: 'unmined', txId, nowMs: this.#nowMs })
      }
    }
  }

  /** kill -9: all that is not in the store is gone, effects under way included. */
  restart(): void {
    this.#pending = []
    this.#repeatable = []
    for (const [txId, fate] of this.#fates) {
      if (fate === 'waiting') this.#fates.set(txId, 'lost in a restart')
    }
    this.#state = loadState(this.#reader, WALLET_ID)
    this.chain.senderRestarted(this.#state.open.keys())
    this.#check()
  }

  /**
   * Everything answers well from now on, and blocks keep coming. Then nothing may be open or
   * reserved, every caller has its answer, and the lane can still send.
   */
  async settle(): Promise<void> {
    await this.#rest()
    const last = await this.send(1n)
    await this.#rest()
    const stored = this.#stored()
    const probe = stored.find(({ txId }) => txId === last)
    const probeRefused = this.#fates.get(last) === 'refused'
    if (!probeRefused && probe?.status !== 'confirmed' && probe?.status !== 'failed') {
      throw new Error(`the lane sends no more: ${probe?.status}`)
    }
    for (const [txId, fate] of this.#fates) {
      if (fate === 'waiting') throw new Error(`${txId} was never answered`)
    }
    const mined = this.chain.minedIds()
    if (new Set(mined).size !== mined.length) throw new Error('a transaction was mined twice')
    for (const { txId, status } of stored) {
      const landed = mined.includes(txId)
      if (landed !== (status === 'confirmed' || status === 'failed')) {
        throw new Error(`${txId} is ${status} and ${landed ? 'was' : 'was not'} mined`)
      }
    }
    const { reservedMicros } = this.#counters()
    if (reservedMicros !== 0n) throw new Error(`${reservedMicros} stay reserved`)
    const spent = stored.reduce((sum, tx) => sum + tx.spentMicros, 0n)
    if (this.#counters().dayMicros !== spent) throw new Error('used is not what was spent')
  }

  async #rest(): Promise<void> {
    for (let round = 0; round < REST_ROUNDS_MAX; round++) {
      while (this.#pending.length > 0) await this.finishEffect(0, 0)
      if (this.#state.drafts.size === 0 && this.#state.open.size === 0) return
      await this.block(Number.POSITIVE_INFINITY, 'sees')
    }
    const { open, drafts } = this.#state
    const left = [...open.values()].map((it) => `${it.tx.txId} at ${it.tx.nonce} ${it.flight}`)
    const lane = laneOf(this.#state, CHAIN_ID)
    throw new Error(
      `no rest: chain at ${this.chain.nonce}, lane ${JSON.stringify(lane)}; ${left.join(', ')}; ` +
        `drafts ${[...drafts.values()].map((it) => `${it.draft.txId} ${it.phase}`).join(', ')}`,
    )
  }

  #outcomeOf(effect: Effect, choice: number): Command | null {
    const nowMs = this.#nowMs
    switch (effect.type) {
      case 'screen': {
        const refusal = choice % 5 === 4 ? fault('ADDRESS_BLOCKED') : null
        const { txId } = effect.draft
        return { type: 'screened', txId, refusal, screenedAgainst: [], requoted: null, nowMs }
      }
      case 'sign':
        return this.#quorum.sign(effect.draft.txId, effect.nonce, effect.replaces, choice, nowMs)
      case 'replace': {
        const newest = effect.tx.attempts.at(-1)
        if (newest === undefined) throw new Error('nothing to replace')
        const { txId, nonce } = effect.tx
        const bid = newest.maxFeePerGas + 1n
        return this.#quorum.resign(txId, nonce, newest.intentId, bid, choice, nowMs)
      }
      case 'broadcast': {
        const { tx } = effect
        const txHash = tx.attempts.at(-1)?.txHash ?? '0x'
        if (!this.#isStored(tx)) throw new Error(`${tx.txId} went out before it was stored`)
        const outcome = this.chain.offer(tx, choice)
        const blockNumber = this.chain.height
        return { type: 'broadcast-outcome', txId: tx.txId, txHash, outcome, blockNumber, nowMs }
      }
      case 'value-receipt': {
        const { txId } = effect.tx
        const { blockHash } = effect.mined
        return {
          ...{ type: 'receipt-valued', txId, blockHash, shownMicros: 0n, unvalued: null },
          nowMs,
        }
      }
      default:
        return null
    }
  }

  /** What a watcher finds out at a block: receipts of open transactions, then the block itself. */
  async #tellUpdates(): Promise<void> {
    this.#nowMs += 1_000
    const nowMs = this.#nowMs
    for (const { tx } of [...this.#state.open.values()]) {
      const found = this.chain.minedIn(tx)
      if (found === null) continue
      const { final, ...mined } = found
      if (final) await this.#handle({ type: 'confirmed', txId: tx.txId, mined, nowMs })
      else if (tx.mined?.blockHash !== mined.blockHash) {
        await this.#handle({ type: 'mined', txId: tx.txId, mined, nowMs })
      }
    }
    await this.#handle({
      type: 'head',
      chainId: CHAIN_ID,
      blockNumber: this.chain.height,
      fees: { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n },
      gasPriceWei: 1n,
      chainNonce: this.chain.nonce,
      finalBlock: null,
      nowMs,
    })
  }

  async #handle(command: Command, token: number | null = null): Promise<void> {
    const decision = decide(this.#state, command, token)
    const { events, effects, replies, promptReplies = [] } = decision
    const batch = new WriteBatch()
    recordEvents(batch, this.#state, events)
    for (const reply of promptReplies) this.#answer(reply)
    if (this.#diesAnswering && promptReplies.length > 0) {
      this.#diesAnswering = false
      this.restart()
      return
    }
    if (!batch.empty) await localCommits(this.#environment, this.#sequence).commit(batch)
    for (const reply of replies) this.#answer(reply)
    this.#pending.push(...effects)
    this.#check()
  }

  #answer({ token, result }: Reply): void {
    const txId = txIdOf(token)
    const before = this.#fates.get(txId)
    if (before !== 'waiting') throw new Error(`${txId} was answered again, after: ${before}`)
    this.#fates.set(txId, result.ok ? 'sent' : 'refused')
    const stored = this.#reader.transactions.byId(txId)
    if (result.ok && stored === undefined) throw new Error(`${txId} is not stored`)
    if (!result.ok && stored !== undefined && stored.status !== 'dropped') {
      throw new Error(`${txId} was refused and is ${stored.status}`)
    }
  }

  /** What holds between any two commands. */
  #check(): void {
    const { dayMicros, reservedMicros } = this.#counters()
    // Filling a hole costs gas that nobody asked for, so no cap can refuse it.
    const fillers =
      this.#stored().filter(({ call, from }) => call.to === from).length +
      [...this.#state.drafts.values()].filter(({ draft }) => draft.call.to === wallet.address)
        .length
    if (dayMicros > this.capMicros + BigInt(fillers) * GAS_MICROS) {
      throw new Error(`${dayMicros} used of ${this.capMicros}`)
    }
    const open = [...this.#state.open.values()].map(({ tx }) => tx)
    const drafted = [...this.#state.drafts.values()].filter((it) => it.draft.signs === 'first-time')
    const held = [...open, ...drafted.map(({ draft }) => draft)].reduce(
      (sum, { reservation }) => sum + reservation.micros,
      0n,
    )
    if (reservedMicros !== held) throw new Error(`${reservedMicros} reserved, ${held} are held`)

    const live = this.#stored().filter(({ status }) => status !== 'dropped')
    const lost = [...this.#state.open.values()]
      .filter(({ flight }) => flight === 'nonce-lost')
      .map(({ tx }) => tx.txId)
    const nonces = live.filter(({ txId }) => !lost.includes(txId)).map(({ nonce }) => nonce)
    if (new Set(nonces).size !== nonces.length) throw new Error(`nonces repeat: ${nonces}`)
    const { signing, filling } = laneOf(this.#state, CHAIN_ID)
    const assigned = [...signing, ...filling].map((txId) => this.#state.drafts.get(txId)?.nonce)
    if (new Set([...nonces, ...assigned]).size !== nonces.length + assigned.length) {
      throw new Error(`a nonce is handed out twice: stored ${nonces}, assigned ${assigned}`)
    }
  }

  #counters() {
    return countersOf(this.#state, LINEAGE_ID, this.#nowMs)
  }

  #stored(): Transaction[] {
    return [...this.#reader.transactions.ofUserOldestFirst(wallet.userId, null)]
  }

  #isStored({ txId, attempts }: AccountTransaction): boolean {
    const stored = this.#reader.transactions.byId(txId)
    const newest = attempts.at(-1)?.txHash
    return stored?.attempts.some(({ txHash }) => txHash === newest) === true || isFinalIn(stored)
  }
}

function isFinalIn(stored: Transaction | undefined): boolean {
  return stored !== undefined && isFinal(stored.status)
}

/** Blocks after which everything must have come to rest: the slowest way is a replacement. */
const REST_ROUNDS_MAX = 120
