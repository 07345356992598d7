import type { Address, Hex, TxId } from '../../../src/domain/ids.js'
import type { BlockRef } from '../../../src/domain/transaction.js'
import type { Owner } from './messages.js'

/** The part of a deep transaction that is kept, so that it can be watched again. */
interface Settled {
  readonly txId: TxId
  readonly owner: Owner
  readonly from: Address
  readonly nonce: number
  readonly hashes: readonly Hex[]
}

/** Turns plain data into bytes and back; it may reuse the bytes at its next call. */
export interface Packer {
  pack(value: unknown): Uint8Array
  unpack(bytes: Uint8Array): unknown
}

/** Transactions of one owner that settled one after another, in packed form. */
type Run = readonly [Owner, Address, readonly (readonly [TxId, number, readonly Uint8Array[]])[]]

interface SettledBlock extends BlockRef {
  /** Transactions that are not packed yet. */
  fresh: Settled[]
  readonly packed: Uint8Array[]
}

/**
 * The number of transactions packed together: enough that those of an owner share its name, few
 * enough for one turn.
 */
const PACKED_TOGETHER = 128

/**
 * Deep transactions by block, kept until no reorg can reach them. A busy chain has hundreds of
 * thousands of them, and nearly all are forgotten unread. Packed, they take a third of the memory
 * and give the garbage collector nothing to walk through. As objects they were half of this
 * thread's heap, and each major collection delayed all sends by 100 ms.
 */
export class SettledBlocks {
  readonly #packer: Packer
  /** Several at one height when receipts came from several branches. */
  readonly #byHeight = new Map<number, SettledBlock[]>()
  /** The block that the last transaction was added to. */
  #filling: SettledBlock | null = null

  constructor(packer: Packer) {
    this.#packer = packer
  }

  add(settled: Settled, { blockNumber, blockHash }: BlockRef): void {
    const block = this.#blockAt(blockNumber, blockHash)
    if (block !== this.#filling) {
      if (this.#filling !== null) this.#pack(this.#filling)
      this.#filling = block
    }
    block.fresh.push(settled)
    if (block.fresh.length >= PACKED_TOGETHER) this.#pack(block)
  }

  /** Takes out everything at a height except in the block `exceptHash`. */
  take(
    blockNumber: number,
    exceptHash: Hex | null,
  ): readonly { readonly mined: BlockRef; readonly transactions: readonly Settled[] }[] {
    const blocks = this.#byHeight.get(blockNumber)
    if (blocks === undefined) return []
    const kept = blocks.filter(({ blockHash }) => blockHash === exceptHash)
    if (kept.length > 0) this.#byHeight.set(blockNumber, kept)
    else this.#byHeight.delete(blockNumber)
    return blocks
      .filter(({ blockHash }) => blockHash !== exceptHash)
      .map((block) => ({
        mined: { blockNumber, blockHash: block.blockHash },
        transactions: [...block.packed.flatMap((bytes) => this.#unpacked(bytes)), ...block.fresh],
      }))
  }

  heights(): readonly number[] {
    return [...this.#byHeight.keys()]
  }

  /** @returns whether anything was forgotten */
  forgetBelow(blockNumber: number): boolean {
    return deleteBelow(this.#byHeight, blockNumber)
  }

  #blockAt(blockNumber: number, blockHash: Hex): SettledBlock {
    const filling = this.#filling
    // It is nearly always this block; a block that was taken out or forgotten since is made again.
    const blocks = this.#byHeight.get(blockNumber) ?? []
    if (filling !== null && blocks.includes(filling) && filling.blockHash === blockHash) {
      return filling
    }
    const known = blocks.find((block) => block.blockHash === blockHash)
    if (known !== undefined) return known
    const block = { blockNumber, blockHash, fresh: [], packed: [] }
    this.#byHeight.set(blockNumber, [...blocks, block])
    return block
  }

  #pack(block: SettledBlock): void {
    if (block.fresh.length === 0) return
    // A copy, because the packer returns a piece of a larger buffer.
    block.packed.push(new Uint8Array(this.#packer.pack(runsOf(block.fresh))))
    block.fresh = []
  }

  #unpacked(bytes: Uint8Array): Settled[] {
    const runs = this.#packer.unpack(bytes) as readonly Run[]
    return runs.flatMap(([owner, from, transactions]) =>
      transactions.map(([txId, nonce, hashes]) => {
        return { txId, owner, from, nonce, hashes: hashes.map(hexOf) }
      }),
    )
  }
}

/** @returns whether anything was deleted */
export function deleteBelow(byHeight: Map<number, unknown>, blockNumber: number): boolean {
  const { size } = byHeight
  for (const height of byHeight.keys()) if (height < blockNumber) byHeight.delete(height)
  return byHeight.size < size
}

function runsOf(settled: readonly Settled[]): Run[] {
  const runs: [Owner, Address, [TxId, number, Uint8Array[]][]][] = []
  for (const { txId, owner, from, nonce, hashes } of settled) {
    let run = runs.at(-1)
    if (run?.[0] !== owner) {
      run = [owner, from, []]
      runs.push(run)
    }
    run[2].push([txId, nonce, hashes.map(bytesOf)])
  }
  return runs
}

function bytesOf(hash: Hex): Uint8Array {
  return Buffer.from(hash.slice(2), 'hex')
}

function hexOf(bytes: Uint8Array): Hex {
  return `0x${Buffer.from(bytes).toString('hex')}`
}
