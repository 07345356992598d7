import type { Hex, TxId } from '../../../src/domain/ids.js'
import type { BlockRef, MinedIn } from '../../../src/domain/transaction.js'
import type { WatchCommand } from './messages.js'
import { deleteBelow, type Packer, SettledBlocks } from './settled-blocks.js'

export interface Watched extends Omit<WatchCommand, 'type' | 'mined'> {
  /** Where it is mined, as its owner believes; null while it is not. */
  readonly mined: BlockRef | null
  /** Its owner is notified of it once it is deep enough; null: it was, or nothing is mined. */
  pendingNotice: MinedIn | null
  /** False while `mined` comes from before a start or a pause: a receipt has to say it once more. */
  checked: boolean
  /** Height at which watching began, or a receipt was last asked for; null until the first block. */
  sinceBlock: number | null
}

const NONE: readonly Watched[] = []

/**
 * The watched transactions of one chain. One that is deep enough stays for hundreds of blocks, in
 * case of a reorg, but a new block has nothing to say about it: what is looked at per block is
 * what is open, and what was mined at the heights in question.
 */
export class WatchList {
  /** Not known to be deep enough, in the order in which they wait for their turn to be asked about. */
  readonly #open = new Map<TxId, Watched>()
  /** Nearly always one: two calls of a wallet to itself at one nonce and the same fees are the same bytes. */
  readonly #byHash = new Map<Hex, readonly Watched[]>()
  /** Of those that are mined, by height. */
  readonly #byBlock = new Map<number, Set<Watched>>()
  readonly #settled: SettledBlocks
  /** Where others settled in an earlier life of the process: which ones, the store knows. */
  readonly #earlier = new Map<number, Set<Hex>>()

  /** @param packer for what is deep enough */
  constructor(packer: Packer) {
    this.#settled = new SettledBlocks(packer)
  }

  /** Not known to be deep enough yet. */
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

  /** Takes the place of the one with the same id. */
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
    const watched = this.#open.get(txId)
    if (watched === undefined) return
    this.#leaveBlock(watched)
    for (const hash of watched.hashes) {
      const others = this.withHash(hash).filter((one) => one !== watched)
      if (others.length > 0) this.#byHash.set(hash, others)
      else this.#byHash.delete(hash)
    }
    this.#open.delete(txId)
  }

  setMined(watched: Watched, mined: BlockRef | null): void {
    this.#leaveBlock(watched)
    const writable: { mined: BlockRef | null } = watched
    writable.mined = mined
    if (mined !== null) this.#at(mined.blockNumber).add(watched)
  }

  /** Nothing more is expected of it, short of a reorg. */
  settle({ txId, owner, from, nonce, hashes }: Watched, block: BlockRef): void {
    this.remove(txId)
    this.#settled.add({ txId, owner, from, nonce, hashes }, block)
  }

  /** Some settled there, before this list began. */
  noteEarlier({ blockNumber, blockHash }: BlockRef): void {
    const there = this.#earlier.get(blockNumber)
    if (there === undefined) this.#earlier.set(blockNumber, new Set([blockHash]))
    else there.add(blockHash)
  }

  /** Takes out the earlier blocks at these heights, but for the block `exceptHash`. */
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

  /** Heights at which something is mined, settled or not. */
  minedHeights(): ReadonlySet<number> {
    return new Set([...this.#byBlock.keys(), ...this.#settled.heights(), ...this.#earlier.keys()])
  }

  /** Forgets what is settled that low. @returns whether there was anything */
  forgetSettledBelow(blockNumber: number): boolean {
    const forgot = this.#settled.forgetBelow(blockNumber)
    return deleteBelow(this.#earlier, blockNumber) || forgot
  }

  /** Behind all others that wait to be asked about. */
  moveToEnd(watched: Watched): void {
    this.#open.delete(watched.txId)
    this.#open.set(watched.txId, watched)
  }

  /** Those that are mined at that height in another block; none of them is settled any more. */
  minedInOther(blockNumber: number, hash: Hex): readonly Watched[] {
    this.#unsettle(blockNumber, hash)
    const there = this.#byBlock.get(blockNumber)
    return there === undefined ? [] : [...there].filter(({ mined }) => mined?.blockHash !== hash)
  }

  /** Those that are mined at these heights; none of them is settled any more. */
  minedWithin(from: number, to: number): readonly Watched[] {
    // By what is here and not height by height: a chain that starts over goes back by millions.
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
        // Signed again by its wallet, or named after a start, before that heard of its end there.
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
