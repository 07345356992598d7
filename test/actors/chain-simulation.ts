import { decide } from '../../actors/chain-watcher/core/decide.js'
import type {
  ChainUpdate,
  WatchCommand,
  WatcherCommand,
  WatcherEffect,
} from '../../actors/chain-watcher/core/messages.js'
import { emptyWatcher, type WatcherState } from '../../actors/chain-watcher/core/state.js'
import { packer } from '../../actors/chain-watcher/packer.js'
import type { BlockSummary } from '../../src/chains/heads.js'
import type { Receipt } from '../../src/chains/receipts.js'
import type { Hex, TxId } from '../../src/domain/ids.js'
import type { BlockRef, MinedIn } from '../../src/domain/transaction.js'
import { ADDRESS, CHAIN_ID, txIdOf, WALLET_ID } from './wallet-fixtures.js'

/** What the watcher last told of a transaction. */
export type Told = 'nothing' | 'mined' | 'confirmed' | 'unmined'

const NOW_MS = 1_750_000_000_000
/** Between two looks at the chain. */
export const POLL_MS = 250

/** A node whose chain can be rewritten, and the watcher that follows it. */
export class WatchedChain {
  readonly confirmations: number
  readonly told = new Map<TxId, Told>()
  /** How often the watcher took something back. */
  takenBack = 0
  readonly heads: number[] = []
  /** The block that it last called final. */
  finalBlock: BlockRef | null = null
  /** Unverified heights are not answered while this is set. */
  blocksLost = false
  /** Height below which the store may forget where something ended. */
  forgottenBelow = 0
  /** Blocks by which the node that is asked is behind. */
  lag = 0
  /** Requests for receipts are answered with nothing while this is set. */
  receiptsLost = false
  #watcher: WatcherState
  /** What the wallets have stored: where each transaction is mined, and where any ever ended. */
  readonly #mined = new Map<TxId, MinedIn>()
  readonly #endedAt: BlockRef[] = []
  #blocks: BlockSummary[] = []
  #forks = 0

  constructor(confirmations: number) {
    this.confirmations = confirmations
    this.#watcher = emptyWatcher(CHAIN_ID, confirmations, 1_000, packer)
    this.extend([])
    this.#feed({ type: 'start' })
    this.poll()
  }

  /** The process dies, and another goes on from what is stored. */
  restart(): void {
    this.#watcher = emptyWatcher(CHAIN_ID, this.confirmations, 1_000, packer)
    for (const [txId, told] of this.told) {
      if (told !== 'confirmed' && !this.#givenUp.has(txId)) this.#feed(this.#watchOf(txId))
    }
    for (const [txId, height] of this.#givenUp) {
      if (height >= this.forgottenBelow) this.#feed(this.#givenUpOf(txId, height))
    }
    for (const place of this.#endedAt) {
      if (place.blockNumber >= this.forgottenBelow) this.#watcher.watched.noteEarlier(place)
    }
    this.#feed({ type: 'start' })
  }

  get height(): number {
    return this.#blocks.length - 1
  }

  get requests(): number {
    return this.#requests
  }
  #requests = 0

  watch(n: number): void {
    this.#numbers.set(txIdOf(n), n)
    this.told.set(txIdOf(n), 'nothing')
    this.#feed(this.#watchOf(txIdOf(n)))
  }
  readonly #numbers = new Map<TxId, number>()

  #watchOf(txId: TxId): WatchCommand {
    const nonce = this.#numbers.get(txId) ?? 0
    const mined = this.#mined.get(txId) ?? null
    const ids = { txId, owner: WALLET_ID, from: ADDRESS, nonce }
    return { type: 'watch', ...ids, hashes: [hashOf(nonce)], mined }
  }

  /** Its wallet gave it up, since something else had used its nonce by that height. */
  giveUp(n: number, height: number): void {
    this.#givenUp.set(txIdOf(n), height)
    this.#feed(this.#givenUpOf(txIdOf(n), height))
  }
  readonly #givenUp = new Map<TxId, number>()

  #givenUpOf(txId: TxId, height: number): WatcherCommand {
    const { type: _, mined: __, ...watched } = this.#watchOf(txId)
    return { type: 'give-up', ...watched, height }
  }

  /** Its wallet takes it up again. */
  takeUp(n: number): void {
    this.#givenUp.delete(txIdOf(n))
    this.#feed(this.#watchOf(txIdOf(n)))
  }

  /** Its wallet has signed it again, by what it knew before it heard of a block. */
  watchReplaced(n: number, replacement: number): void {
    const hashes = [hashOf(n), hashOf(replacement)]
    this.#feed({ ...this.#watchOf(txIdOf(n)), hashes, mined: null })
  }

  /** Its wallet names it once more, by what it knew before it heard of what happens meanwhile. */
  watchAgain(n: number, meanwhile: () => void): void {
    const known = this.#watchOf(txIdOf(n))
    meanwhile()
    this.#feed(known)
  }

  /** A block on top, with these transactions in it. */
  extend(txs: readonly number[]): void {
    const parent = this.#blocks.at(-1)
    const number = this.#blocks.length
    this.#blocks.push({
      chainId: CHAIN_ID,
      number,
      hash: blockHash(number, this.#forks),
      parentHash: parent?.hash ?? blockHash(0, 999),
      timestampMs: NOW_MS + number * 1_000,
      baseFeePerGas: 1n,
      gasLimit: 30_000_000n,
      txHashes: txs.map(hashOf),
    })
  }

  /** Takes the newest blocks away; what follows is another branch. */
  fork(depth: number): void {
    this.#forks++
    this.#blocks = this.#blocks.slice(0, this.#blocks.length - depth)
  }

  /** The node is asked for its newest block, and for all that the watcher wants to know then. */
  poll(): void {
    this.#nowMs += POLL_MS
    const block = this.#seen().at(-1) ?? null
    this.#feed({ type: 'latest', block, nowMs: this.#nowMs })
  }
  #nowMs = NOW_MS

  /** The chain as the node that is asked has it. */
  #seen(): readonly BlockSummary[] {
    return this.lag === 0
      ? this.#blocks
      : this.#blocks.slice(0, Math.max(1, this.#blocks.length - this.lag))
  }

  /** The branch as it is now, of which a node may not know yet that it has lost. */
  get branch(): readonly BlockSummary[] {
    return this.#blocks
  }

  /** What a node answers that is asked for blocks of the past; null: the branch that counts. */
  comparedWith: readonly BlockSummary[] | null = null

  /** A receipt from a node that follows another branch, such as one that will lose. */
  showReceipt(n: number, blockNumber: number, fork: number): void {
    const receipt = receiptOf(n, blockNumber, blockHash(blockNumber, fork))
    this.#feed({ type: 'receipts', asked: [hashOf(n)], receipts: [receipt], nowMs: this.#nowMs })
  }

  /** Where a transaction is in the branch that counts; null when it is not. */
  blockOf(n: number): number | null {
    const at = this.#blocks.findIndex(({ txHashes }) => txHashes.includes(hashOf(n)))
    return at < 0 ? null : at
  }

  #feed(command: WatcherCommand): void {
    const queue: WatcherEffect[] = [...this.#decide(command)]
    for (let effect = queue.shift(); effect !== undefined; effect = queue.shift()) {
      const answer = this.#answer(effect)
      if (answer !== null) queue.push(...this.#decide(answer))
    }
  }

  #decide(command: WatcherCommand): readonly WatcherEffect[] {
    const { events, effects } = decide(this.#watcher, command)
    for (const { below } of events) this.forgottenBelow = below
    return effects
  }

  #answer(effect: WatcherEffect): WatcherCommand | null {
    const nowMs = this.#nowMs
    switch (effect.type) {
      case 'fetch-blocks': {
        this.#requests++
        const blocks = this.#seen().slice(effect.from, effect.to + 1)
        return { type: 'blocks', blocks, nowMs }
      }
      case 'check-blocks': {
        this.#requests++
        const seen = this.comparedWith ?? this.#seen()
        const found = this.blocksLost ? [] : effect.numbers.map((number) => seen[number])
        return { type: 'checked', blocks: found.filter((block) => block !== undefined), nowMs }
      }
      case 'recall': {
        const { block } = effect
        const transactions = [...this.told]
          .filter(([txId, told]) => told === 'confirmed' && this.#isIn(block, txId))
          .map(([txId]) => this.#watchOf(txId))
        return { type: 'recalled', block, transactions, nowMs }
      }
      case 'fetch-receipts': {
        this.#requests++
        const receipts = this.receiptsLost
          ? null
          : effect.hashes.map((hash) => this.#receiptBy(hash))
        return { type: 'receipts', asked: effect.hashes, receipts, nowMs }
      }
      case 'fetch-nonces':
        return {
          type: 'nonces',
          nonces: effect.accounts.map(({ owner }) => ({ owner, nonce: 0 })),
          nowMs,
        }
      case 'tell':
        this.#note(effect.command)
        return null
      default:
        return null
    }
  }

  #note(update: ChainUpdate): void {
    if (update.type === 'head') {
      this.heads.push(update.blockNumber)
      this.finalBlock = update.finalBlock
    } else {
      if (update.type === 'unmined') {
        this.takenBack++
        this.#mined.delete(update.txId)
      } else this.#mined.set(update.txId, update.mined)
      if (update.type === 'confirmed') this.#endedAt.push(update.mined)
      this.told.set(update.txId, update.type)
    }
  }

  #isIn({ blockHash }: BlockRef, txId: TxId): boolean {
    return this.#mined.get(txId)?.blockHash === blockHash
  }

  #receiptBy(hash: Hex): Receipt | null {
    const block = this.#seen().find(({ txHashes }) => txHashes.includes(hash))
    return block === undefined ? null : receiptOf(Number(hash), block.number, block.hash)
  }
}

function receiptOf(n: number, blockNumber: number, hash: Hex): Receipt {
  return {
    txHash: hashOf(n),
    blockNumber,
    blockHash: hash,
    status: 'success',
    gasUsed: 21_000n,
    effectiveGasPrice: 1n,
    feeWei: 21_000n,
    logs: [],
    logsTruncated: false,
  }
}

function hashOf(n: number): Hex {
  return `0x${n.toString(16).padStart(64, '0')}`
}

function blockHash(number: number, fork: number): Hex {
  return `0xb${fork.toString(16).padStart(31, '0')}${number.toString(16).padStart(32, '0')}`
}
