import type { Transaction } from '../../../src/domain/transaction.js'
import { fault } from '../../../src/errors/fault.js'
import type { CallQuote } from '../../../src/valuation/quoter.js'
import type { Command, PreparedSend, SendCommand } from '../messages.js'
import type { SubWalletPorts } from '../ports.js'
import type { SubWalletState } from '../state.js'

/** Adds what a send's decision needs from outside; at once while all caches are warm. */
export function prepareSend(
  ports: SubWalletPorts,
  state: SubWalletState,
  command: SendCommand,
): Command | Promise<Command> {
  const first = firstAnswer(ports, state, command)
  // Looked up again after a wait: the first request with the same key may have ended meanwhile.
  const finish = (
    quote: CallQuote,
    chainNonce: number | null,
    record: PreparedSend['first'],
  ): PreparedSend => ({
    ...command,
    type: 'prepared-send',
    nowMs: ports.nowMs(),
    first: record,
    quote,
    chainNonce,
  })
  const { wallet } = state
  if (wallet === null) return finish({ ok: false, fault: fault('INVALID_KEY') }, null, null)
  // A replay needs neither prices nor nodes.
  if (first !== null) return finish({ ok: false, fault: fault('INTERNAL') }, null, first)
  const { chainId, to, value, data } = command
  const quote = ports.quoter.quote({ chainId, from: wallet.address, to, value, data })
  const lane = state.lanes.get(chainId)
  const nonce =
    lane === undefined || lane.nextNonce === null ? chainNonceOf(ports, state, chainId) : null
  if (nonce === null && !(quote instanceof Promise)) return finish(quote, null, null)
  return Promise.all([quote, nonce]).then(([known, chainNonce]) =>
    finish(known, chainNonce, firstAnswer(ports, state, command)),
  )
}

async function chainNonceOf(
  { chains, log }: SubWalletPorts,
  { wallet }: SubWalletState,
  chainId: number,
): Promise<number | null> {
  const chain = chains.get(chainId)
  if (chain === undefined || wallet === null) return null
  try {
    return await chain.reads.transactionCount(wallet.address, 'latest')
  } catch (error) {
    log.warn({ err: error, chainId }, 'the account nonce could not be read')
    return null
  }
}

/** What an Idempotency-Key stood for already. */
export function firstAnswer(
  { reader }: SubWalletPorts,
  state: SubWalletState,
  { idempotency, keyId }: Pick<SendCommand, 'idempotency' | 'keyId'>,
): PreparedSend['first'] {
  const lineageId = state.keys.get(keyId)?.lineageId
  if (idempotency === null || lineageId === undefined) return null
  // Commits since the last tick count.
  reader.refresh()
  const record = reader.idempotency(lineageId, idempotency.key)
  if (record === undefined) return null
  const tx: Transaction | undefined =
    state.open.get(record.txId)?.tx ?? reader.transaction(record.txId)
  return tx === undefined ? null : { record, tx }
}
