import type { Hex, TxId } from '../../../src/domain/ids.js'
import type { BlockRef, MinedIn } from '../../../src/domain/transaction.js'
import type { WatchCommand } from './messages.js'
import { deleteBelow, type Packer, SettledBlocks } from './settled-blocks.js'

export interface Watched extends Omit<WatchCommand, 'type' | 'mined'> {
  /** The block in which its owner has it as mined; null when it is not. */
  readonly mined: BlockRef | null
  /**
   * Set until its owner is notified that it is deep enough; null once notified, or when it is not
   * mined.
   */
  pendingNotice: MinedIn | null
  /** False while `mined` predates a start or a pause: a receipt has to confirm it. */
  checked: boolean
  /**
   * The height at which watching began or a receipt was last requested; null until the first block.
   */
  sinceBlock: number | null
  /** Set of one that was given up: something else had used its nonce by this height. */
  readonly givenUpAt?: number
}

/** Beyond it the oldest is forgotten: each lost its nonce to something from outside, which is rare. */
const GIVEN_UP_MAX = 1_024

const NONE: readonly Watched[] = []

/**
 * The watched transactions of one chain. A deep transaction stays for hundreds of blocks, in case
 * of a reorg, but costs nothing per block: each block only touches the open transactions and those
 * mined at the heights in question.
 */
export class WatchList {
  /** Transactions that are not known to be deep enough, in the order in which they are polled. */
  readonly #open = new Map<TxId, Watched>()
  /**
   * Nearly always one per hash: two self-sends of a wallet at one nonce with the same fees have the
   * same bytes.
   */
  readonly #byHash = new Map<Hex, readonly Watched[]>()
  /** Given up, and watched for a block that has one of their hashes after all; oldest first. */
  readonly #givenUp = new Map<TxId, Watched>()
  /** Mined transactions by height. */
  readonly #byBlock = new Map<number, Set<Watched>>()
  readonly #settled: SettledBlocks
  /**
   * Blocks in which others settled in an earlier run of the process; the store has the
   * transactions.
   */
  readonly #earlier = new Map<number, Set<Hex>>()

  /** @param packer packs the deep transactions */
  constructor(packer: Packer) {
    this.#settled = new SettledBlocks(packer)
  }

  /** Transactions that are not known to be deep enough yet. */
  open(): Iterable<Watched> {
    return this.#open.values()
  }

  get openCount(): number {
    return this.#open.size
  }

  get(txId: TxId): Watched | undefined {
    return this.#open.get(txId)
  }

  withHash(hash: Hex): readonly Watched[] {
    return this.#byHash.get(hash) ?? NONE
  }

  /** Replaces the transaction with the same id. */
  put(watched: Watched): void {
    this.remove(watched.txId)
    this.#open.set(watched.txId, watched)
    for (const hash of watched.hashes) {
      const others = this.#byHash.get(hash)
      this.#byHash.set(hash, others === undefined ? [watched] : [...others, watched])
    }
    if (watched.mined !== null) this.#at(watched.mined.blockNumber).add(watched)
  }

  remove(txId: TxId): void {
    const watched = this.#open.get(txId) ?? this.#givenUp.get(txId)
    if (watched === undefined) return
    this.#leaveBlock(watched)
    for (const hash of watched.hashes) {
      const others = this.withHash(hash).filter((one) => one !== watched)
      if (others.length > 0) this.#byHash.set(hash, others)
      else this.#byHash.delete(hash)
    }
    this.#open.delete(txId)
    this.#givenUp.delete(txId)
  }

  giveUp(watched: Watched & { readonly givenUpAt: number }): void {
    this.remove(watched.txId)
    const [oldest] = this.#givenUp.keys()
    if (oldest !== undefined && this.#givenUp.size >= GIVEN_UP_MAX) this.remove(oldest)
    this.#givenUp.set(watched.txId, watched)
    for (const hash of watched.hashes) this.#byHash.set(hash, [...this.withHash(hash), watched])
  }

  givenUp(): Iterable<Watched> {
    return this.#givenUp.values()
  }

  setMined(watched: Watched, mined: BlockRef | null): void {
    this.#leaveBlock(watched)
    const writable: { mined: BlockRef | null } = watched
    writable.mined = mined
    if (mined !== null) this.#at(mined.blockNumber).add(watched)
  }

  /** Moves a transaction to the settled ones: only a reorg could change it. */
  settle({ txId, owner, from, nonce, hashes }: Watched, block: BlockRef): void {
    this.remove(txId)
    this.#settled.add({ txId, owner, from, nonce, hashes }, block)
  }

  /** Notes a block in which transactions settled before this list began. */
  noteEarlier({ blockNumber, blockHash }: BlockRef): void {
    const there = this.#earlier.get(blockNumber)
    if (there === undefined) this.#earlier.set(blockNumber, new Set([blockHash]))
    else there.add(blockHash)
  }

  /** Takes out the earlier blocks at these heights, except the block `exceptHash`. */
  takeEarlier(from: number, to: number, exceptHash: Hex | null): readonly BlockRef[] {
    if (this.#earlier.size === 0) return []
    const taken: BlockRef[] = []
    for (const [blockNumber, there] of this.#earlier) {
      if (blockNumber < from || blockNumber > to) continue
      for (const blockHash of there) {
        if (blockHash === exceptHash) continue
        taken.push({ blockNumber, blockHash })
        there.delete(blockHash)
      }
      if (there.size === 0) this.#earlier.delete(blockNumber)
    }
    return taken
  }

  /** The heights at which something is mined, settled or not. */
  minedHeights(): ReadonlySet<number> {
    return new Set([...this.#byBlock.keys(), ...this.#settled.heights(), ...this.#earlier.keys()])
  }

  /**
   * Forgets what settled below this height.
   * @returns whether anything was forgotten
   */
  forgetSettledBelow(blockNumber: number): boolean {
    let forgot = this.#settled.forgetBelow(blockNumber)
    for (const { txId, givenUpAt = 0 } of [...this.#givenUp.values()]) {
      if (givenUpAt >= blockNumber) continue
      this.remove(txId)
      forgot = true
    }
    return deleteBelow(this.#earlier, blockNumber) || forgot
  }

  /** Moves a transaction behind all others that wait to be polled. */
  moveToEnd(watched: Watched): void {
    this.#open.delete(watched.txId)
    this.#open.set(watched.txId, watched)
  }

  /**
   * Transactions mined at that height in another block; none of them counts as settled after this.
   */
  minedInOther(blockNumber: number, hash: Hex): readonly Watched[] {
    this.#unsettle(blockNumber, hash)
    const there = this.#byBlock.get(blockNumber)
    return there === undefined ? [] : [...there].filter(({ mined }) => mined?.blockHash !== hash)
  }

  /** Transactions mined at these heights; none of them counts as settled after this. */
  minedWithin(from: number, to: number): readonly Watched[] {
    // Goes through the known heights and not height by height: a chain that starts over goes back
    // by millions.
    for (const height of this.#settled.heights()) {
      if (height >= from && height <= to) this.#unsettle(height, null)
    }
    const found: Watched[] = []
    for (const [height, there] of this.#byBlock) {
      if (height >= from && height <= to) found.push(...there)
    }
    return found
  }

  #unsettle(blockNumber: number, exceptHash: Hex | null): void {
    for (const { mined, transactions } of this.#settled.take(blockNumber, exceptHash)) {
      for (const each of transactions) {
        const again = this.#open.get(each.txId)
        if (again === undefined) {
          this.put({ ...each, mined, pendingNotice: null, checked: false, sinceBlock: null })
        }
        // Its wallet signed it again, or named it after a start, before the wallet was told of its
        // end in that block.
        else if (again.mined?.blockHash !== mined.blockHash) this.setMined(again, mined)
      }
    }
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
