import { quantityNumber, record, toQuantity } from '../../../src/chains/hex.js'
import type { RpcClient, View } from '../../../src/chains/rpc/types.js'
import type { BlockRef, Transaction } from '../../../src/domain/transaction.js'
import type { Outcome } from '../core/messages.js'

type Views = Pick<RpcClient, 'views'>
type Signed = Pick<Transaction, 'from' | 'nonce' | 'attempts'>

const UNCLEAR = { kind: 'indeterminate', maybeBroadcast: true } as const

/**
 * Finds whether the nonce was used by one of our own hashes (the usual case: it was mined in the
 * meantime) or by another transaction. Signing again after a wrong "stranger" would pay twice, so
 * it needs proof, and all of it from one node in one request: that the node follows the chain that
 * we followed, up to a block that is final there, that the nonce is used in that block, and that it
 * has a receipt for none of our hashes. Every node is asked, and a single contradiction makes the
 * result indeterminate. An index of receipts can lag by more than what makes a block final, so the
 * block in which the nonce was used is read as well.
 */
export async function whoUsedTheNonce(
  rpc: Views,
  tx: Signed,
  finalBlock: BlockRef | null,
): Promise<Outcome> {
  if (finalBlock === null) return UNCLEAR
  const final = finalBlock.blockNumber
  const views = await rpc.views([
    blockAt(final),
    nonceAt(tx, final),
    ...tx.attempts.map(({ txHash }) => ({
      method: 'eth_getTransactionReceipt',
      params: [txHash],
    })),
  ])
  if (views.some(([, , ...receipts]) => receipts.some((receipt) => receipt !== null))) {
    return { kind: 'accepted' }
  }
  const nonces = views.flatMap(([block, nonce]) =>
    isBlock(block, finalBlock) ? (numberOf(nonce) ?? []) : [],
  )
  const chainNonce = Math.min(...nonces)
  if (nonces.length === 0 || chainNonce <= tx.nonce) return UNCLEAR
  const used = await usedIn(rpc, tx, final)
  if (used === 'indeterminate') return UNCLEAR
  const user = await (used === 'pruned' ? whoByHash(rpc, tx) : whoIsIn(rpc, tx, used, finalBlock))
  if (user === 'ours') return { kind: 'accepted' }
  return user === 'stranger' ? { kind: 'nonce-lost', chainNonce } : UNCLEAR
}

/**
 * Finds the block in which the nonce was used by a binary search over the account's past nonces, in
 * about twice as many requests as its depth has bits.
 *
 * @returns pruned when the node has the block and no longer its state. Such a node looks
 * transactions up in its own database, which it writes with the block; indexes that lag stand in
 * front of nodes that keep everything. When blocks are missing as well, it proves nothing.
 */
async function usedIn(
  rpc: Views,
  tx: Signed,
  final: number,
): Promise<number | 'pruned' | 'indeterminate'> {
  let [free, used, missing] = [-1, final, -1]
  for (let depth = 1; used - Math.max(free, missing) > 1; depth *= 2) {
    const below = Math.max(free, missing)
    const at = below < 0 ? Math.max(0, final - depth) : Math.floor((below + used) / 2)
    const call = { ...nonceAt(tx, at), mayBePruned: true } as const
    const [view] = await rpc.views([blockAt(at), call], isAny)
    if (view === undefined || view[0] === null) {
      // A node may not have the chain from its first block on: what it has lies above.
      missing = at
      continue
    }
    if (view[1] === null) return missing < 0 ? 'pruned' : 'indeterminate'
    const nonce = numberOf(view[1])
    if (nonce === null) return 'indeterminate'
    if (nonce > tx.nonce) used = at
    else free = at
  }
  return free < missing ? 'indeterminate' : used
}

/**
 * Decides by what nodes know about our hashes. Some nodes forget receipts as soon as they forget
 * states, but keep where transactions are: a transaction that no node has in any block is in no
 * block.
 */
async function whoByHash(rpc: Views, tx: Signed): Promise<'ours' | 'stranger' | 'indeterminate'> {
  const views = await rpc.views(
    tx.attempts.map(({ txHash }) => ({ method: 'eth_getTransactionByHash', params: [txHash] })),
  )
  if (views.some((found) => found.some((one) => one !== null))) return 'ours'
  return views.length > 0 ? 'stranger' : 'indeterminate'
}

/**
 * Reads the block from every node that has the nonce used there; one node that shows our
 * transaction in it suffices.
 */
async function whoIsIn(
  rpc: Views,
  tx: Signed,
  used: number,
  finalBlock: BlockRef,
): Promise<'ours' | 'stranger' | 'indeterminate'> {
  const views = await rpc.views([
    blockAt(finalBlock.blockNumber),
    nonceAt(tx, used - 1),
    nonceAt(tx, used),
    blockAt(used),
  ])
  const ours = new Set<unknown>(tx.attempts.map(({ txHash }) => txHash))
  const contents = views.flatMap(([final, before, after, block]) => {
    const [free, taken] = [numberOf(before), numberOf(after)]
    const isUsedThere = free !== null && free <= tx.nonce && taken !== null && taken > tx.nonce
    return isUsedThere && isBlock(final, finalBlock) ? [hashesIn(block)] : []
  })
  if (contents.some((hashes) => hashes?.some((hash) => ours.has(hash)))) return 'ours'
  return contents.length > 0 && !contents.includes(null) ? 'stranger' : 'indeterminate'
}

function blockAt(number: number) {
  return { method: 'eth_getBlockByNumber', params: [toQuantity(number), false] }
}

function nonceAt({ from }: Signed, number: number) {
  return { method: 'eth_getTransactionCount', params: [from, toQuantity(number)] }
}

const isAny = () => true

function isBlock(block: unknown, { blockHash }: BlockRef): boolean {
  return fieldOf(block, 'hash') === blockHash
}

/** Returns null when the node's answer has no list. */
function hashesIn(block: unknown): readonly unknown[] | null {
  const hashes = fieldOf(block, 'transactions')
  return Array.isArray(hashes) ? hashes : null
}

function fieldOf(value: unknown, name: string): unknown {
  try {
    return record(value)[name]
  } catch {
    return undefined
  }
}

function numberOf(value: View[number]): number | null {
  try {
    return quantityNumber(value)
  } catch {
    return null
  }
}
