import type { ChainAccess } from '../../../src/chains/access.js'
import type { BroadcastOutcome } from '../../../src/chains/rpc/broadcast-outcome.js'
import type { Hex } from '../../../src/domain/ids.js'
import { currentHash } from '../../../src/domain/transaction.js'
import { fault } from '../../../src/errors/fault.js'
import type { AccountCommand, AccountEffect, Outcome } from '../core/messages.js'
import type { AccountPorts } from '../ports.js'
import { whoUsedTheNonce } from './who-used-the-nonce.js'

type BroadcastEffect = Omit<Extract<AccountEffect, { type: 'broadcast' }>, 'type'>

interface BroadcastPorts extends Pick<AccountPorts, 'timers' | 'log'> {
  readonly chains: ReadonlyMap<number, BroadcastChain>
}

interface BroadcastChain extends Pick<ChainAccess, 'rpc'> {
  readonly fees: Pick<ChainAccess['fees'], 'latest'>
}

/** Step 5 of the lifecycle: sends stored bytes to the chain, and reports the outcome. */
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

/**
 * Sends to every node. An answer that the nonce is used is followed up even when another node has
 * the bytes.
 */
async function everywhere(
  chain: BroadcastChain,
  effect: BroadcastEffect,
  raw: Hex,
): Promise<Outcome> {
  const { isTaken, isNonceTooLow, otherwise } = await chain.rpc.sendEverywhere(raw)
  const used = isNonceTooLow ? await whoUsedTheNonce(chain.rpc, effect.tx, effect.finalBlock) : null
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
    case 'rejected':
      if (answer.reason !== 'unsendable') return { kind: 'refused' }
      return { kind: 'rejected', fault: fault('CHAIN_REJECTED', { reason: answer.reason }) }
    case 'nonce-too-low':
      return whoUsedTheNonce(chain.rpc, effect.tx, effect.finalBlock)
  }
}
