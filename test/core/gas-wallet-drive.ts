import { withoutDrafts } from '../../actors/account/core/lane-nonces.js'
import { laneOf } from '../../actors/account/core/state.js'
import { decide } from '../../actors/gas-wallet/core/decide.js'
import type {
  GasWalletCommand,
  GasWalletEffect,
  GasWalletEvent,
} from '../../actors/gas-wallet/core/messages.js'
import type { GasWalletState } from '../../actors/gas-wallet/core/state.js'
import { loadGasWallet, recordGasWallet } from '../../actors/gas-wallet/record.js'
import { gasWalletId, gasWalletKey } from '../../src/domain/gas-wallets.js'
import type { TxId } from '../../src/domain/ids.js'
import { ADDRESS, CHAIN_ID, LINEAGE_ID, txIdOf, WALLET_ID } from '../actors/wallet-fixtures.js'
import { DrawnOutcomes } from './drawn-outcomes.js'
import { ROUTER } from './wallet-world.js'
import { byKey, mustEqual, World } from './world.js'

const ID = gasWalletId(CHAIN_ID, 0)
const BALANCE_WEI = 10n ** 18n

type GasWorld = World<GasWalletState, GasWalletCommand, GasWalletEvent, GasWalletEffect>

/** Drives one gas wallet through jobs in an order drawn by a seed, restarts among them. */
export class GasWalletDrive {
  readonly world: GasWorld = new World({
    load: (reader) => loadGasWallet(reader, ID, 0),
    decide,
    record: recordGasWallet,
  })
  readonly drawn: DrawnOutcomes
  /** Jobs whose sub-wallet was told of a transaction. */
  readonly #toldOf = new Set<TxId>()
  readonly #settled = new Set<TxId>()
  #jobs = 0

  private constructor(seed: number) {
    this.drawn = new DrawnOutcomes(seed)
  }

  static async create(seed: number): Promise<GasWalletDrive> {
    const drive = new GasWalletDrive(seed)
    const wallet = { walletId: gasWalletKey(ID, 0), address: ADDRESS, epoch: 1 }
    await drive.#handle({ type: 'key-made', wallet })
    return drive
  }

  get trail(): readonly string[] {
    return this.world.trail
  }

  async step(): Promise<void> {
    const drawn = this.drawn.random.integer(100)
    if (drawn < 20) await this.#takeJob()
    else if (drawn < 23) this.#restart()
    else if (drawn < 33) await this.#mine()
    else if (drawn < 36) await this.#reorg()
    else if (drawn < 44) await this.#handle(this.drawn.head())
    else await this.#endEffect()
  }

  async #handle(command: GasWalletCommand): Promise<void> {
    const { events, effects } = await this.world.handle(command)
    for (const effect of effects) {
      if (effect.type !== 'tell' || effect.update.type !== 'sponsor-update') continue
      const { txId, gas } = effect.update
      if (gas !== null) this.#toldOf.add(txId)
      else if (this.#toldOf.has(txId)) throw new Error(`${txId} was told of, and then denied`)
    }
    for (const event of events) {
      if (event.type !== 'transaction-ended') continue
      const { mined = null } = this.world.reader.gas.transaction(event.txId)?.tx ?? {}
      if (mined !== null) this.#settled.add(event.txId)
    }
    this.#check()
  }

  #restart(): void {
    this.world.restart()
    this.#check()
  }

  #check(): void {
    const { state } = this.world
    const stored = this.world.loaded()
    const { account, jobs } = state
    mustEqual('address', account.wallet?.address, stored.account.wallet?.address)
    mustEqual('open', openOf(state), openOf(stored))
    const kept = laneOf(stored.account, CHAIN_ID).nextNonce
    if (kept !== null || account.open.size > 0) {
      const { nextNonce } = withoutDrafts(account, laneOf(account, CHAIN_ID))
      mustEqual('next nonce', nextNonce, kept)
    }
    for (const txId of jobs.keys()) {
      if (!account.open.has(txId) && !account.drafts.has(txId)) throw new Error(`${txId} is no job`)
    }
    const live = [...account.open.values()].filter(({ flight }) => flight !== 'nonce-lost')
    const nonces = new Set(live.map(({ tx }) => tx.nonce))
    if (nonces.size !== live.length) throw new Error('two transactions hold a nonce')
  }

  /** One in five is asked for again, as a sub-wallet does that started over. */
  async #takeJob(): Promise<void> {
    const { random, nowMs } = this.drawn
    const again = this.#jobs > 0 && random.chance(0.2)
    const txId = txIdOf(again ? 1 + random.integer(this.#jobs) : ++this.#jobs)
    const { account } = this.world.state
    const isOpen = account.open.has(txId)
    const past = isOpen ? 'under-way' : (this.world.reader.gas.transaction(txId)?.tx ?? null)
    const fees = { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n }
    await this.#handle({
      type: 'prepared-sponsor',
      job: {
        ...{ txId, subWalletId: WALLET_ID, chainId: CHAIN_ID, account: ADDRESS, router: ROUTER },
        ...{ lineageId: LINEAGE_ID, calldata: '0x', authorization: null, cancels: null },
      },
      others: 0,
      quote: { ok: true, gasLimit: 1n, fees, l1FeeWei: 0n, balanceWei: BALANCE_WEI },
      chainNonce: laneOf(account, CHAIN_ID).nextNonce === null ? 0 : null,
      past,
      nowMs,
    })
  }

  async #mine(): Promise<void> {
    const { random, nowMs } = this.drawn
    const { open } = this.world.state.account
    const live = [...open.values()].filter(({ flight }) => flight !== 'nonce-lost')
    if (live.length === 0) return
    const { tx } = random.pick(live)
    if (tx.mined !== null && random.chance(0.2)) {
      await this.#handle({ type: 'unmined', txId: tx.txId, nowMs })
      return
    }
    const mined = this.drawn.mining(tx)
    if (mined !== null) await this.#handle(mined)
  }

  /** Takes back what was final. */
  async #reorg(): Promise<void> {
    if (this.#settled.size === 0) return
    const { random, nowMs } = this.drawn
    const txId = random.pick([...this.#settled])
    this.#settled.delete(txId)
    await this.#handle({ type: 'unmined', txId, nowMs })
  }

  async #endEffect(): Promise<void> {
    const { pending } = this.world
    if (pending.length === 0) return
    const [effect] = pending.splice(this.drawn.random.integer(pending.length), 1)
    if (effect?.type === 'sign-job') {
      await this.#handle(this.drawn.signing(effect.draft.txId, effect.nonce))
    } else if (effect?.type === 'broadcast') {
      const { open } = this.world.state.account
      const isMined = (open.get(effect.tx.txId)?.tx.mined ?? null) !== null
      await this.#handle(this.drawn.broadcast(effect.tx, isMined))
    } else if (effect?.type === 'replace-job') {
      await this.#handle(this.drawn.replacing(effect.tx, effect.purpose))
    } else if (effect?.type === 'read-end') {
      const { txId } = effect
      const { tx, job } = this.world.reader.gas.transaction(txId) ?? { tx: null, job: null }
      await this.#handle({ type: 'end-read', txId, stored: tx, job, nowMs: this.drawn.nowMs })
    }
  }
}

function openOf({ account, jobs }: GasWalletState) {
  return byKey(account.open).map(([id, { tx }]) => [id, tx, jobs.get(id) ?? null])
}
