import type { ReplacePurpose } from '../../actors/account/core/messages.js'
import { broadcast } from '../../actors/account/effects/broadcast.js'
import type { Command, Effect } from '../../actors/sub-wallet/core/messages.js'
import { createRpcClient } from '../../src/chains/rpc/client.js'
import type { RpcClient } from '../../src/chains/rpc/types.js'
import type { Timers } from '../../src/clock/timers.js'
import type { Hex, TxId } from '../../src/domain/ids.js'
import {
  isCancelledBy,
  isFinal,
  type MinedIn,
  type Transaction,
} from '../../src/domain/transaction.js'
import { CHAIN_ID, LINEAGE_ID, preparedSend, START_MS, txIdOf } from '../actors/wallet-fixtures.js'
import { openWallet, spentBy, type WalletWorld } from '../core/wallet-world.js'
import { type Draw, drawOf } from '../simulation/random.js'
import { bytesIn, hashOf, hexOf, ModelledChain, ModelledEndpoint } from './modelled-nodes.js'

const STEPS = { least: 6, most: 16 } as const
const BLOCK_MS = 2_000
/** From here on nothing changes on a modelled chain. */
const DEPTH = 3
/** Blocks after which everything must be at rest once one endpoint is well. */
const CALM_BLOCKS_MAX = 120
/** No cap is met: what is reserved longer than it must be would hide refusals. */
const CAP_MICROS = 1_000_000n

interface Asked {
  readonly key: string
  readonly micros: bigint
}

/**
 * A wallet, its decisions, records and broadcasts, and the real RPC client over endpoints that do
 * anything: what a seed draws goes on until one of them is well, and then must come to rest.
 */
export class SendHistory {
  readonly #draw: Draw
  readonly #chain = new ModelledChain()
  readonly #endpoints: readonly ModelledEndpoint[]
  readonly #rpc: RpcClient
  readonly #world: WalletWorld
  readonly #asked = new Map<TxId, Asked>()
  readonly #timers: Timers
  #nowMs = START_MS
  #signed = 0

  private constructor(seed: number, world: WalletWorld) {
    this.#world = world
    this.#draw = drawOf(seed, 'history')
    const draw = drawOf(seed, 'endpoints')
    const count = draw.between(1, 3)
    this.#endpoints = Array.from({ length: count }, () => new ModelledEndpoint(this.#chain, draw))
    this.#timers = {
      now: () => this.#nowMs,
      elapsed: () => this.#nowMs,
      soon: (task) => queueMicrotask(task),
      at(_atMs, task) {
        queueMicrotask(task)
        return { cancel: () => undefined }
      },
      random: draw,
    }
    this.#rpc = createRpcClient({
      chainId: CHAIN_ID,
      endpoints: this.#endpoints.map((_, i) => `http://node${i}`),
      timers: this.#timers,
      transportTo: (url) => ({
        post: (body) => this.#endpointOf(url).post(body),
        close: () => Promise.resolve(),
      }),
    })
  }

  /** @throws Error with what must not be */
  static async play(seed: number): Promise<void> {
    const history = new SendHistory(seed, await openWallet(CAP_MICROS))
    for (let block = 0; block < DEPTH; block++) history.#chain.mine(history.#draw)
    const steps = history.#draw.between(STEPS.least, STEPS.most)
    for (let step = 0; step < steps; step++) {
      await history.#step()
      history.#noFinalMayLand()
    }
    await history.#comeToRest()
    history.#audit()
  }

  #endpointOf(url: string): ModelledEndpoint {
    const endpoint = this.#endpoints[Number(new URL(url).hostname.slice('node'.length))]
    if (endpoint === undefined) throw new Error(`there is no ${url}`)
    return endpoint
  }

  async #step(): Promise<void> {
    const draw = this.#draw
    const what = draw.fraction()
    if (what < 0.35) await this.#send(`key-${this.#asked.size}`)
    else if (what < 0.45) await this.#send(`key-${draw.integer(this.#asked.size + 1)}`)
    else if (what < 0.55) this.#world.restart()
    else if (what < 0.65) this.#chain.mine(draw)
    else await this.#block()
    await this.#finishEffects()
  }

  /** A key that was used before is a repetition of that request. */
  async #send(key: string): Promise<void> {
    const n = this.#asked.size + 1
    const before = [...this.#asked.values()].find((asked) => asked.key === key)
    const micros = before?.micros ?? BigInt(n)
    const { reader } = this.#world
    const record = reader.fresh().idempotency.byKey(LINEAGE_ID, key)
    const tx = record === undefined ? undefined : reader.transactions.byId(record.txId)
    const first = record === undefined || tx === undefined ? null : { record, tx }
    this.#asked.set(txIdOf(n), { key, micros })
    const idempotency = { key, bodyHash: 'same' }
    const chainNonce = this.#chain.nonce
    const said = { idempotency, first, nowMs: this.#nowMs, chainNonce }
    await this.#world.handle(preparedSend(n, micros, said), n)
  }

  /** The watcher follows the chain as it is: what endpoints make of it is not the subject. */
  async #block(): Promise<void> {
    this.#chain.mine(this.#draw)
    this.#nowMs += BLOCK_MS
    const nowMs = this.#nowMs
    for (const { tx } of [...this.#world.state.open.values()]) {
      const mined = this.#minedIn(tx)
      if (mined === null) continue
      const isFinal = this.#chain.height - mined.blockNumber + 1 >= DEPTH
      const type = isFinal ? 'confirmed' : 'mined'
      if (isFinal || tx.mined === null)
        await this.#world.handle({ type, txId: tx.txId, mined, nowMs })
    }
    await this.#world.handle({
      ...{ type: 'head', chainId: CHAIN_ID, blockNumber: this.#chain.height, gasPriceWei: 1n },
      fees: { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n },
      chainNonce: this.#draw.chance(0.7) ? this.#chain.nonce : null,
      finalBlock: this.#chain.blockAt(this.#chain.height - DEPTH + 1),
      nowMs,
    })
  }

  #minedIn({ attempts }: Transaction): MinedIn | null {
    for (const { txHash } of attempts) {
      const landed = this.#chain.landed.get(txHash)
      const block = landed === undefined ? null : this.#chain.blockAt(landed.height)
      if (block !== null) return { ...block, txHash, outcome: 'success', feeWei: 1n }
    }
    return null
  }

  async #finishEffects(): Promise<void> {
    const { pending } = this.#world
    for (let effects = pending.splice(0); effects.length > 0; effects = pending.splice(0)) {
      const outcomes = await Promise.all(effects.map((effect) => this.#outcomeOf(effect)))
      for (const outcome of outcomes) if (outcome !== null) await this.#world.handle(outcome)
    }
  }

  #outcomeOf(effect: Effect): Promise<Command | null> | Command | null {
    const nowMs = this.#nowMs
    switch (effect.type) {
      case 'screen': {
        const screened = { refusal: null, screenedAgainst: [], requoted: null } as const
        return { type: 'screened', txId: effect.draft.txId, ...screened, nowMs }
      }
      case 'sign': {
        const { nonce, draft } = effect
        const signed = this.#sign(nonce, draft.maxFeePerGas, draft.txId)
        return { type: 'signed', txId: draft.txId, nonce, signed, nowMs }
      }
      case 'replace':
        return this.#replaced(effect.tx, effect.purpose)
      case 'value-receipt': {
        const { tx, mined } = effect
        const shown = { shownMicros: tx.valuation.valueMicros, unvalued: null }
        const { blockHash } = mined
        return { type: 'receipt-valued', txId: tx.txId, blockHash, ...shown, nowMs }
      }
      case 'broadcast':
        return new Promise((resolve) => {
          const chain = { rpc: this.#rpc, fees: { latest: () => null } }
          const chains = new Map([[CHAIN_ID, chain]])
          const log = { warn: () => undefined }
          broadcast({ chains, timers: this.#timers, log }, effect, resolve)
        })
      default:
        return null
    }
  }

  #replaced(tx: Transaction, purpose: ReplacePurpose): Command {
    const { txId, nonce } = tx
    const fee = (tx.attempts.at(-1)?.maxFeePerGas ?? 0n) + 1n
    const fees = { maxFeePerGas: fee, maxPriorityFeePerGas: fee }
    const name = purpose === 'cancel' ? `cancellation of ${txId}` : txId
    const signed = this.#sign(nonce, fee, name)
    return { type: 'replacement-signed', txId, nonce, purpose, fees, signed, nowMs: this.#nowMs }
  }

  #sign(nonce: number, fee: bigint, name: string) {
    const rawTransaction = hexOf({ nonce, fee, name })
    const intentId: Hex = `0x${(++this.#signed).toString(16).padStart(4, '0')}`
    return { txHash: hashOf(rawTransaction), rawTransaction, intentId, signedAtMs: this.#nowMs }
  }

  /** One endpoint is well from now on; of the others, who knows. */
  async #comeToRest(): Promise<void> {
    const well = this.#draw.integer(this.#endpoints.length)
    this.#endpoints.forEach((endpoint, i) => {
      endpoint.state = i === well ? 'well' : this.#draw.pick(['well', 'dead', 'odd'])
    })
    await this.#send('probe')
    for (let block = 0; block < CALM_BLOCKS_MAX; block++) {
      await this.#finishEffects()
      const { open, drafts } = this.#world.state
      if (open.size + drafts.size === 0) return
      await this.#block()
    }
    const left = [...this.#world.state.open.values()].map((it) => `${it.tx.txId} ${it.flight}`)
    throw new Error(`no rest: ${left.join(', ')}`)
  }

  /** What is final stays so: each set of its bytes was mined, or its nonce is used. */
  #noFinalMayLand(): void {
    for (const txId of this.#asked.keys()) {
      const tx = this.#world.reader.transactions.byId(txId)
      if (tx === undefined || !isFinal(tx.status)) continue
      for (const { txHash, rawTransaction } of tx.attempts) {
        const { nonce } = bytesIn(rawTransaction)
        if (this.#chain.landed.has(txHash) || nonce < this.#chain.nonce) continue
        throw new Error(`${txId} is ${tx.status}, and ${txHash} may still be mined`)
      }
    }
  }

  #audit(): void {
    this.#noFinalMayLand()
    const landedOf = new Map<string, number>()
    for (const { bytes } of this.#chain.landed.values()) {
      const key = this.#asked.get(bytes.name as TxId)?.key
      if (key !== undefined) landedOf.set(key, (landedOf.get(key) ?? 0) + 1)
    }
    for (const [key, times] of landedOf) {
      if (times > 1) throw new Error(`${key} was paid ${times} times`)
    }
    let spentMicros = 0n
    for (const [txId, { key }] of this.#asked) {
      const tx = this.#world.reader.transactions.byId(txId)
      if (tx === undefined) continue
      const hasLanded = landedOf.has(key)
      if ((tx.status === 'confirmed') !== hasLanded) {
        throw new Error(`${txId} is ${tx.status} and ${hasLanded ? 'landed' : 'did not land'}`)
      }
      const isCounted = tx.spentMicros >= tx.valuation.valueMicros
      if (hasLanded && !isCounted) throw new Error(`${txId} landed uncounted`)
      if (tx.mined !== null && isCancelledBy(tx, tx.mined) && hasLanded) {
        throw new Error(`${txId} was cancelled and landed`)
      }
      spentMicros += tx.spentMicros
    }
    for (const { token, result } of this.#world.replies) {
      const { key } = this.#asked.get(txIdOf(token)) ?? { key: '' }
      if (!result.ok && landedOf.has(key)) throw new Error(`${key} was refused and landed`)
    }
    const { reservedMicros, dayMicros } = spentBy(this.#world, this.#nowMs)
    if (reservedMicros !== 0n) throw new Error(`${reservedMicros} stay reserved`)
    if (dayMicros !== spentMicros)
      throw new Error(`${dayMicros} are used, ${spentMicros} were spent`)
    if (!landedOf.has('probe')) throw new Error('the lane sends no more')
  }
}
