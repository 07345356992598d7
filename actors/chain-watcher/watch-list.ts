import type { Hex, TxId } from '../../src/domain/ids.js'
import type { MinedIn } from '../../src/domain/transaction.js'
import type { WatchCommand } from './messages.js'

export interface Watched extends Omit<WatchCommand, 'type' | 'mined'> {
  /** Where it is mined, as its owner believes; null while it is not. */
  readonly mined: MinedIn | null
  /** False while that comes from before a start or a pause: a receipt has to say it once more. */
  checked: boolean
  /** True once its wallet was told that it is deep enough. */
  confirmed: boolean
  /** Height at which watching began, or a receipt was last asked for; null until the first block. */
  sinceBlock: number | null
}

/**
 * The watched transactions of one chain. A confirmed one stays for hundreds of blocks, in case of
 * a reorg, but a new block has nothing to say about it: what is looked at per block is what is
 * open, and what was mined at the heights in question.
 */
export class WatchList {
  readonly #byId = new Map<TxId, Watched>()
  readonly #byHash = new Map<Hex, Watched>()
  /** In the order in which they wait for their turn to be asked about. */
  readonly #open = new Set<Watched>()
  /** Of those that are mined, by height. */
  readonly #byBlock = new Map<number, Set<Watched>>()

  /** Not known to be deep enough yet. */
  get open(): ReadonlySet<Watched> {
    return this.#open
  }

  get(txId: TxId): Watched | undefined {
    return this.#byId.get(txId)
  }

  withHash(hash: Hex): Watched | undefined {
    return this.#byHash.get(hash)
  }

  /** Takes the place of the one with the same id. */
  put(watched: Watched): void {
    this.remove(watched.txId)
    this.#byId.set(watched.txId, watched)
    for (const hash of watched.hashes) this.#byHash.set(hash, watched)
    this.#open.add(watched)
    if (watched.mined !== null) this.#at(watched.mined.blockNumber).add(watched)
  }

  remove(txId: TxId): void {
    const watched = this.#byId.get(txId)
    if (watched === undefined) return
    this.#leaveBlock(watched)
    for (const hash of watched.hashes) this.#byHash.delete(hash)
    this.#open.delete(watched)
    this.#byId.delete(txId)
  }

  setMined(watched: Watched, mined: MinedIn | null): void {
    this.#leaveBlock(watched)
    const writable: { mined: MinedIn | null } = watched
    writable.mined = mined
    if (mined !== null) this.#at(mined.blockNumber).add(watched)
  }

  /** Nothing more is expected of it, short of a reorg. */
  close(watched: Watched): void {
    this.#open.delete(watched)
  }

  /** Looks at it again in each block. */
  reopen(watched: Watched): void {
    this.#open.add(watched)
  }

  /** Behind all others that wait to be asked about. */
  moveToEnd(watched: Watched): void {
    this.#open.delete(watched)
    this.#open.add(watched)
  }

  all(): Iterable<Watched> {
    return this.#byId.values()
  }

  minedAt(blockNumber: number): readonly Watched[] {
    return [...(this.#byBlock.get(blockNumber) ?? [])]
  }

  minedWithin(from: number, to: number): readonly Watched[] {
    const found: Watched[] = []
    for (const [blockNumber, there] of this.#byBlock) {
      if (blockNumber >= from && blockNumber <= to) found.push(...there)
    }
    return found
  }

  #at(blockNumber: number): Set<Watched> {
    const there = this.#byBlock.get(blockNumber) ?? new Set()
    this.#byBlock.set(blockNumber, there)
    return there
  }

  #leaveBlock(watched: Watched): void {
    if (watched.mined === null) return
    const there = this.#byBlock.get(watched.mined.blockNumber)
    there?.delete(watched)
    if (there?.size === 0) this.#byBlock.delete(watched.mined.blockNumber)
  }
}
