import type { ChainAccess } from '../../../src/chains/access.js'
import { quantityNumber, toQuantity } from '../../../src/chains/hex.js'
import type { BroadcastOutcome } from '../../../src/chains/rpc/broadcast-outcome.js'
import { currentHash, type Transaction } from '../../../src/domain/transaction.js'
import { fault } from '../../../src/errors/fault.js'
import type { Command, Outcome } from '../messages.js'
import type { SubWalletPorts } from '../ports.js'

export interface BroadcastPorts extends Pick<SubWalletPorts, 'nowMs' | 'log'> {
  readonly chains: ReadonlyMap<number, BroadcastChain>
}

interface BroadcastChain extends Pick<ChainAccess, 'rpc' | 'config'> {
  readonly fees: Pick<ChainAccess['fees'], 'latest'>
}

/** Step 5 of the lifecycle: hands stored bytes to the chain, and says what is known after. */
export function broadcast(
  { chains, nowMs, log }: BroadcastPorts,
  tx: Transaction,
  self: (command: Command) => void,
): void {
  const { txId, chainId } = tx
  const txHash = currentHash(tx)
  const raw = tx.attempts.at(-1)?.rawTransaction
  const chain = chains.get(chainId)
  if (chain === undefined || raw === undefined) throw new Error(`${txId} cannot be broadcast`)
  const report = (outcome: Outcome) => {
    const blockNumber = chain.fees.latest()?.head.number ?? null
    self({ type: 'broadcast-outcome', txId, txHash, outcome, blockNumber, nowMs: nowMs() })
  }
  chain.rpc
    .sendRawTransaction(raw)
    .then((answer) => outcomeOf(chain, tx, answer))
    .then(report, (error: unknown) => {
      log.warn({ err: error, txId }, 'a broadcast ended without an answer')
      report({ kind: 'unsure', mayBeOut: true })
    })
}

function outcomeOf(
  chain: BroadcastChain,
  tx: Transaction,
  answer: BroadcastOutcome,
): Outcome | Promise<Outcome> {
  switch (answer.kind) {
    case 'accepted':
    case 'known':
      return { kind: 'accepted' }
    case 'retry':
      return { kind: 'unsure', mayBeOut: false }
    case 'indeterminate':
      return { kind: 'unsure', mayBeOut: true }
    case 'underpriced':
      return { kind: 'underpriced' }
    case 'rejected': {
      const code = answer.reason === 'insufficient-funds' ? 'INSUFFICIENT_FUNDS' : 'CHAIN_REJECTED'
      return { kind: 'rejected', fault: fault(code, { reason: answer.reason }) }
    }
    case 'nonce-too-low':
      return whoUsedTheNonce(chain, tx)
  }
}

/**
 * Whether the nonce went to one of our own hashes (the usual case: it was mined while we asked) or
 * to a stranger. Signing again after a wrong "stranger" would pay twice, so it needs proof: one
 * node, asked in one request, whose state at a confirmed depth has the nonce used and which has a
 * receipt for none of our hashes.
 */
async function whoUsedTheNonce(chain: BroadcastChain, tx: Transaction): Promise<Outcome> {
  const head = chain.fees.latest()?.head.number
  const unclear = { kind: 'unsure', mayBeOut: true } as const
  if (head === undefined) return unclear
  const depth = Math.max(0, head - chain.config.confirmations)
  const calls = [
    { method: 'eth_getTransactionCount', params: [tx.from, toQuantity(depth)] },
    ...tx.attempts.map(({ txHash }) => ({
      method: 'eth_getTransactionReceipt',
      params: [txHash],
    })),
  ]
  const [nonceAnswer, ...receipts] = await chain.rpc.batch(calls)
  if (receipts.some((answer) => answer.ok && answer.value !== null)) return { kind: 'accepted' }
  const sure = nonceAnswer?.ok === true && receipts.every((answer) => answer.ok)
  if (!sure) return unclear
  const chainNonce = quantityNumber(nonceAnswer.value)
  return chainNonce > tx.nonce ? { kind: 'nonce-lost', chainNonce } : unclear
}
