import type { ChainAccess } from '../../../src/chains/access.js'
import type { BroadcastOutcome } from '../../../src/chains/rpc/broadcast-outcome.js'
import { currentHash, type Transaction } from '../../../src/domain/transaction.js'
import { fault } from '../../../src/errors/fault.js'
import type { Command, Outcome } from '../messages.js'
import type { SubWalletPorts } from '../ports.js'

/** Step 5 of the lifecycle: hands stored bytes to the chain, and says what is known after. */
export function broadcast(
  { chains, nowMs, log }: SubWalletPorts,
  tx: Transaction,
  self: (command: Command) => void,
): void {
  const { txId, chainId } = tx
  const txHash = currentHash(tx)
  const raw = tx.attempts.at(-1)?.rawTransaction
  const chain = chains.get(chainId)
  if (chain === undefined || raw === undefined) throw new Error(`${txId} cannot be broadcast`)
  const report = (outcome: Outcome) => {
    const blockNumber = chain.fees.latest()?.head.number ?? 0
    self({ type: 'broadcast-outcome', txId, txHash, outcome, blockNumber, nowMs: nowMs() })
  }
  chain.rpc
    .sendRawTransaction(raw)
    .then((answer) => outcomeOf(chain, tx, answer))
    .then(report, (error: unknown) => {
      log.warn({ err: error, txId }, 'a broadcast ended without an answer')
      report({ kind: 'unsure' })
    })
}

async function outcomeOf(
  chain: ChainAccess,
  tx: Transaction,
  answer: BroadcastOutcome,
): Promise<Outcome> {
  switch (answer.kind) {
    case 'accepted':
    case 'known':
      return { kind: 'accepted' }
    case 'retry':
    case 'indeterminate':
      return { kind: 'unsure' }
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

/** One of our own hashes is the usual answer: it was mined while we asked. */
async function whoUsedTheNonce(chain: ChainAccess, tx: Transaction): Promise<Outcome> {
  const receipts = await chain.reads.receipts(tx.attempts.map(({ txHash }) => txHash))
  if (receipts.some((receipt) => receipt !== null)) return { kind: 'accepted' }
  const chainNonce = await chain.reads.transactionCount(tx.from, 'latest')
  // The node that refused may be ahead of the one that answers now; wait for the next block.
  return chainNonce > tx.nonce ? { kind: 'nonce-lost', chainNonce } : { kind: 'unsure' }
}
