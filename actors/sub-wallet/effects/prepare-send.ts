import type { Call } from '../../../src/domain/call.js'
import type { ChainId } from '../../../src/domain/chains.js'
import type { Transaction } from '../../../src/domain/transaction.js'
import { fault } from '../../../src/errors/fault.js'
import { verdictFault } from '../../../src/screening/verdict-fault.js'
import type { CallQuote } from '../../../src/valuation/quoter.js'
import type { Command, PreparedSend, SendCommand } from '../core/messages.js'
import type { SubWalletState } from '../core/state.js'
import { unminedCalls } from '../core/unmined-calls.js'
import type { SubWalletPorts } from '../ports.js'
import { payeesToTell } from './read-payees.js'
import { versionsOf } from './screen.js'

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
  ): PreparedSend => {
    // Read last: a transaction that ends between the reading and the decision makes it void.
    const payees = payeesToTell(ports.reader, state, command.keyId)
    return {
      type: 'prepared-send',
      txId: command.txId,
      requestId: command.requestId,
      keyId: command.keyId,
      kind: command.kind,
      call: command.call,
      proofKey: command.proofKey,
      idempotency: command.idempotency,
      nowMs: ports.timers.now(),
      first: record,
      quote,
      chainNonce,
      ...(payees === null ? {} : { payees }),
    }
  }
  const { wallet } = state
  const { call } = command
  if (wallet === null) return finish({ ok: false, fault: fault('INVALID_KEY') }, null, null)
  // A replay needs neither prices nor nodes.
  if (first !== null) return finish({ ok: false, fault: fault('INTERNAL') }, null, first)
  if (call.data.length <= VALUED_UNSCREENED_CHARS_MAX) {
    const nonce = unknownNonce(ports, state, call.chainId)
    return prepareValued(ports, state, command, call, nonce, finish)
  }
  return screenedFirst(ports, command).then(async (screened) => {
    // What is refused needs no nonce: it would ask a node once for each, since its lane stays new.
    const nonce = screened === null ? unknownNonce(ports, state, call.chainId) : null
    const valued: Call = screened === null ? call : { ...call, data: '0x' }
    const prepared = await prepareValued(ports, state, command, valued, nonce, finish)
    const known = prepared.first ?? firstAnswer(ports, state, command)
    return { ...prepared, first: known, ...(screened === null ? {} : { screened }) }
  })
}

type Finish = (
  quote: CallQuote,
  chainNonce: number | null,
  record: PreparedSend['first'],
) => PreparedSend

/**
 * @param call it is valued as
 * @param nonce of the account on chain; null where nobody asks
 */
function prepareValued(
  ports: SubWalletPorts,
  state: SubWalletState,
  command: SendCommand,
  call: Call,
  nonce: Promise<number | null> | null,
  finish: Finish,
): PreparedSend | Promise<PreparedSend> {
  const { wallet } = state
  if (wallet === null) return finish({ ok: false, fault: fault('INVALID_KEY') }, null, null)
  const { chainId, to, value, data } = call
  const unmined = () => unminedCalls(state, chainId)
  const quote = ports.quoter.quote({ chainId, from: wallet.address, to, value, data, unmined })
  if (nonce === null && !(quote instanceof Promise)) return finish(quote, null, null)
  return Promise.all([quote, nonce]).then(([known, chainNonce]) =>
    finish(known, chainNonce, firstAnswer(ports, state, command)),
  )
}

/**
 * Running a call on a node costs more than screening it. Longer calldata is screened before it is
 * valued, so that what is made to cost much ends here; shorter costs too little to ask twice. What
 * screening would refuse is valued as if it came without calldata: caps are still asked first.
 */
const VALUED_UNSCREENED_CHARS_MAX = 2 + 2 * 4_096

/** @returns what the screening will refuse the call with, or null */
async function screenedFirst(
  { screener, reader }: SubWalletPorts,
  { keyId, call: { chainId, to, data } }: SendCommand,
): Promise<NonNullable<PreparedSend['screened']> | null> {
  const userId = reader.keys.byId(keyId)?.userId
  if (userId === undefined) return null
  const verdict = await screener.screen({ chainId: chainId as ChainId, userId, to, data })
  const refusal = verdictFault(verdict)
  return refusal === null ? null : { refusal, screenedAgainst: versionsOf(verdict.lists) }
}

/** Asks the chain where a lane has not begun; null where it has. */
function unknownNonce(
  ports: SubWalletPorts,
  state: SubWalletState,
  chainId: number,
): Promise<number | null> | null {
  const next = state.lanes.get(chainId)?.nextNonce ?? null
  return next === null ? chainNonceOf(ports, state, chainId) : null
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
  const record = reader.fresh().idempotency.byKey(lineageId, idempotency.key)
  if (record === undefined) return null
  const tx: Transaction | undefined =
    state.open.get(record.txId)?.tx ?? reader.transactions.byId(record.txId)
  return tx === undefined ? null : { record, tx }
}
