import type { Outcome } from '../../actors/account/core/messages.js'
import type { Hex, TxId } from '../../src/domain/ids.js'
import type { AccountTransaction, MinedIn } from '../../src/domain/transaction.js'
import { fault } from '../../src/errors/fault.js'
import { GAS_MICROS, WEI_PER_MICRO } from './wallet-fixtures.js'

interface Pooled {
  readonly txId: TxId
  readonly hash: Hex
}

interface Block {
  readonly hash: Hex
  readonly txs: readonly (Pooled & { readonly nonce: number })[]
  /** Nonces that somebody else used; such a block stays. */
  readonly outside: number
}

/** What becomes of bytes at a nonce that no pool holds, and at one that a pool holds. */
const FREE = [
  'accepted',
  'taken silently',
  'lost on the way',
  'not heard',
  'underpriced',
  'rejected',
] as const
const HELD = ['accepted', 'taken silently', 'lost on the way', 'not heard'] as const

/** Blocks on top of a transaction's own before it is final here; only younger ones are reorged. */
const DEPTH = 2

/**
 * One account on one chain, as its nodes know it. It throws when it is offered what an honest
 * lane never offers: another transaction at a nonce that one of ours holds.
 */
export class ChainModel {
  nonce = 0
  readonly #pool = new Map<number, Pooled>()
  /** Transactions that a node may have had, as far as their sender can know. */
  readonly #maybeBroadcast = new Set<TxId>()
  /** Bytes that no node will ever take. */
  readonly #refused = new Set<Hex>()
  readonly #blocks: Block[] = []
  #hashes = 0
  /** Height up to which no reorg reaches. */
  #final = 0

  get height(): number {
    return this.#blocks.length
  }

  /** What a node answers to these bytes, and what becomes of them. */
  offer(tx: AccountTransaction, choice: number): Outcome {
    const hash = tx.attempts.at(-1)?.txHash
    if (hash === undefined) throw new Error(`${tx.txId} has no bytes`)
    const landed = this.#find(tx.txId)
    if (landed !== null) {
      // A replacement landed that the asker did not know of: to it, a stranger has the nonce.
      return tx.attempts.some(({ txHash }) => txHash === landed.hash)
        ? { kind: 'accepted' }
        : { kind: 'nonce-lost', chainNonce: this.nonce }
    }
    if (tx.nonce < this.nonce) return this.#nonceGone()
    const held = this.#pool.get(tx.nonce)
    if (held !== undefined && held.txId !== tx.txId) {
      throw new Error(`${tx.txId} and ${held.txId} both went out at nonce ${tx.nonce}`)
    }
    const refused = { kind: 'rejected', fault: fault('CHAIN_REJECTED') } as const
    if (this.#refused.has(hash)) return refused
    const kind = held === undefined ? FREE[choice % FREE.length] : HELD[choice % HELD.length]
    switch (kind) {
      case 'underpriced':
        return { kind }
      case 'not heard':
        return { kind: 'indeterminate', maybeBroadcast: false }
      case 'rejected':
        // What may be out already can be refused for a while only: money comes, pools empty.
        if (!this.#maybeBroadcast.has(tx.txId)) this.#refused.add(hash)
        return refused
      case 'lost on the way':
        break
      default:
        this.#pool.set(tx.nonce, { txId: tx.txId, hash })
    }
    this.#maybeBroadcast.add(tx.txId)
    return kind === 'accepted' ? { kind } : { kind: 'indeterminate', maybeBroadcast: true }
  }

  /** The sender has forgotten what it was told: any of these may be out, for all it knows. */
  senderRestarted(open: Iterable<TxId>): void {
    for (const txId of open) this.#maybeBroadcast.add(txId)
    this.#refused.clear()
  }

  /** Nonce used by a stranger: told only once that is deep enough to stay. */
  #nonceGone(): Outcome {
    const at = this.#blocks.findLastIndex(({ outside }) => outside > 0)
    const sure = at >= 0 && this.height - at >= DEPTH
    return sure
      ? { kind: 'nonce-lost', chainNonce: this.nonce }
      : { kind: 'indeterminate', maybeBroadcast: true }
  }

  /** Takes up to `max` transactions from the pool, in nonce order. */
  mine(max: number): void {
    const txs: (Pooled & { nonce: number })[] = []
    for (let pooled = this.#pool.get(this.nonce); pooled !== undefined && txs.length < max; ) {
      txs.push({ ...pooled, nonce: this.nonce })
      this.#pool.delete(this.nonce)
      this.nonce++
      pooled = this.#pool.get(this.nonce)
    }
    this.#append(txs, 0)
  }

  /** Somebody else who holds the account's key uses its next nonce. */
  useFromOutside(): void {
    this.#pool.delete(this.nonce)
    this.nonce++
    this.#append([], 1)
  }

  /** Takes the newest block away. @returns what was in it; it is back in the pool, or forgotten */
  reorg(keep: boolean): readonly TxId[] {
    const block = this.#blocks.at(-1)
    if (block === undefined || block.outside > 0 || this.height <= this.#final) return []
    this.#blocks.pop()
    this.nonce -= block.txs.length
    if (keep) for (const { nonce, txId, hash } of block.txs) this.#pool.set(nonce, { txId, hash })
    return block.txs.map(({ txId }) => txId)
  }

  /** A node forgets a transaction that it had taken. */
  evict(choice: number): void {
    const nonces = [...this.#pool.keys()]
    const nonce = nonces[choice % Math.max(1, nonces.length)]
    if (nonce !== undefined) this.#pool.delete(nonce)
  }

  /** Where a transaction is mined, under any of its hashes; null while it is not. */
  minedIn(tx: AccountTransaction): (MinedIn & { readonly final: boolean }) | null {
    const found = this.#find(tx.txId)
    if (found === null) return null
    if (!tx.attempts.some(({ txHash }) => txHash === found.hash)) {
      throw new Error(`${tx.txId} was mined under bytes that are not stored`)
    }
    return {
      txHash: found.hash,
      blockNumber: found.blockNumber,
      blockHash: found.blockHash,
      outcome: found.nonce % 7 === 6 ? 'reverted' : 'success',
      feeWei: (BigInt(found.nonce) % (GAS_MICROS + 1n)) * WEI_PER_MICRO,
      final: this.height - found.blockNumber + 1 >= DEPTH,
    }
  }

  #find(wanted: TxId) {
    for (const [index, block] of this.#blocks.entries()) {
      const tx = block.txs.find(({ txId }) => txId === wanted)
      if (tx !== undefined) return { ...tx, blockNumber: index + 1, blockHash: block.hash }
    }
    return null
  }

  /** Ids of all that was mined, in nonce order. */
  minedIds(): readonly TxId[] {
    return this.#blocks.flatMap(({ txs }) => txs.map(({ txId }) => txId))
  }

  #append(txs: Block['txs'], outside: number): void {
    this.#hashes++
    const hash: Hex = `0xb${this.#hashes.toString(16).padStart(63, '0')}`
    this.#blocks.push({ hash, txs, outside })
    this.#final = Math.max(this.#final, this.height - DEPTH + 1)
  }
}
