import type { ChainAccess } from '../../../src/chains/access.js'
import { quantityNumber, record, toQuantity } from '../../../src/chains/hex.js'
import type { BroadcastOutcome } from '../../../src/chains/rpc/broadcast-outcome.js'
import type { View } from '../../../src/chains/rpc/types.js'
import type { Hex } from '../../../src/domain/ids.js'
import { type BlockRef, currentHash } from '../../../src/domain/transaction.js'
import { fault } from '../../../src/errors/fault.js'
import type { AccountCommand, AccountEffect, Outcome } from '../core/messages.js'
import type { AccountPorts } from '../ports.js'

type BroadcastEffect = Omit<Extract<AccountEffect, { type: 'broadcast' }>, 'type'>

export interface BroadcastPorts extends Pick<AccountPorts, 'timers' | 'log'> {
  readonly chains: ReadonlyMap<number, BroadcastChain>
}

interface BroadcastChain extends Pick<ChainAccess, 'rpc'> {
  readonly fees: Pick<ChainAccess['fees'], 'latest'>
}

/** Step 5 of the lifecycle: hands stored bytes to the chain, and says what is known after. */
export function broadcast(
  { chains, timers, log }: BroadcastPorts,
  effect: BroadcastEffect,
  self: (command: Extract<AccountCommand, { type: 'broadcast-outcome' }>) => void,
): void {
  const { tx } = effect
  const { txId } = tx
  const { chainId } = tx.call
  const txHash = currentHash(tx)
  const raw = tx.attempts.at(-1)?.rawTransaction
  const chain = chains.get(chainId)
  if (chain === undefined || raw === undefined) throw new Error(`${txId} cannot be broadcast`)
  const report = (outcome: Outcome) => {
    const blockNumber = chain.fees.latest()?.head.number ?? null
    self({ type: 'broadcast-outcome', txId, txHash, outcome, blockNumber, nowMs: timers.now() })
  }
  const sent =
    effect.reach === 'first-node'
      ? chain.rpc.sendRawTransaction(raw).then((answer) => outcomeOf(chain, effect, answer))
      : everywhere(chain, effect, raw)
  sent.then(report, (error: unknown) => {
    log.warn({ err: error, txId }, 'a broadcast ended without an answer')
    report({ kind: 'indeterminate', maybeBroadcast: true })
  })
}

/** One that says the nonce is used is heard even where another says that it has the bytes. */
async function everywhere(
  chain: BroadcastChain,
  effect: BroadcastEffect,
  raw: Hex,
): Promise<Outcome> {
  const { isTaken, isNonceTooLow, otherwise } = await chain.rpc.sendEverywhere(raw)
  const used = isNonceTooLow ? await whoUsedTheNonce(chain, effect) : null
  if (used !== null && (used.kind !== 'indeterminate' || !isTaken)) return used
  return isTaken ? { kind: 'accepted' } : outcomeOf(chain, effect, otherwise)
}

function outcomeOf(
  chain: BroadcastChain,
  effect: BroadcastEffect,
  answer: BroadcastOutcome,
): Outcome | Promise<Outcome> {
  switch (answer.kind) {
    case 'accepted':
    case 'known':
      return { kind: 'accepted' }
    case 'retry':
      return { kind: 'indeterminate', maybeBroadcast: false }
    case 'indeterminate':
      return { kind: 'indeterminate', maybeBroadcast: true }
    case 'underpriced':
      return { kind: 'underpriced' }
    case 'rejected': {
      const code = answer.reason === 'insufficient-funds' ? 'INSUFFICIENT_FUNDS' : 'CHAIN_REJECTED'
      return { kind: 'rejected', fault: fault(code, { reason: answer.reason }) }
    }
    case 'nonce-too-low':
      return whoUsedTheNonce(chain, effect)
  }
}

/**
 * Whether the nonce went to one of our own hashes (the usual case: it was mined while we asked) or
 * to a stranger. Signing again after a wrong "stranger" would pay twice, so it needs proof, and all
 * of it from one node in one request: that it follows the chain that we followed, up to a block
 * that is final there, that the nonce is used in that block, and that it has a receipt for none of
 * our hashes. Every node is asked, and one that says otherwise leaves it indeterminate.
 */
async function whoUsedTheNonce(
  { rpc }: BroadcastChain,
  { tx, finalBlock }: BroadcastEffect,
): Promise<Outcome> {
  const unclear = { kind: 'indeterminate', maybeBroadcast: true } as const
  if (finalBlock === null) return unclear
  const at = toQuantity(finalBlock.blockNumber)
  const views = await rpc.views([
    { method: 'eth_getBlockByNumber', params: [at, false] },
    { method: 'eth_getTransactionCount', params: [tx.from, at] },
    ...tx.attempts.map(({ txHash }) => ({
      method: 'eth_getTransactionReceipt',
      params: [txHash],
    })),
  ])
  if (views.some(([, , ...receipts]) => receipts.some((receipt) => receipt !== null))) {
    return { kind: 'accepted' }
  }
  const nonces = views.flatMap((view) => nonceIn(view, finalBlock) ?? [])
  const chainNonce = Math.min(...nonces)
  return nonces.length > 0 && chainNonce > tx.nonce ? { kind: 'nonce-lost', chainNonce } : unclear
}

/** The account's nonce in a final block; null when the node has another block there, or none. */
function nonceIn([block, nonce]: View, { blockHash }: BlockRef): number | null {
  try {
    return record(block).hash === blockHash ? quantityNumber(nonce) : null
  } catch {
    return null
  }
}
