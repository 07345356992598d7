import type { Call } from '../../../src/domain/call.js'
import type { ChainId } from '../../../src/domain/chains.js'
import { quoteKey } from '../../../src/domain/idempotency.js'
import type { LineageId } from '../../../src/domain/ids.js'
import type { Transaction } from '../../../src/domain/transaction.js'
import { fault } from '../../../src/errors/fault.js'
import { verdictFault } from '../../../src/screening/verdict-fault.js'
import type { CallQuote } from '../../../src/valuation/quoter.js'
import type { Command, PreparedSend, SendCommand } from '../core/messages.js'
import type { SponsorCommand } from '../core/sponsored-messages.js'
import type { SubWalletState } from '../core/state.js'
import { unminedCalls } from '../core/unmined-calls.js'
import type { SubWalletPorts } from '../ports.js'
import { payeesToTell } from './read-payees.js'
import { versionsOf } from './screen.js'

/** Adds the external data that a send's decision needs; synchronous while all caches are warm. */
export function prepareSend(
  ports: SubWalletPorts,
  state: SubWalletState,
  command: SendCommand,
): Command | Promise<Command> {
  const first = firstAnswer(ports, state, command)
  // The first request is read again after a wait, because it may have ended in the meantime.
  const finish = (
    quote: CallQuote,
    chainNonce: number | null,
    record: PreparedSend['first'],
  ): PreparedSend => {
    // Read last: a transaction that ends between this read and the decision makes the read void.
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
      guardsDuplicates: command.guardsDuplicates,
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
  // A repeated request needs neither prices nor nodes.
  if (first !== null) return finish({ ok: false, fault: fault('INTERNAL') }, null, first)
  if (call.data.length <= VALUED_UNSCREENED_CHARS_MAX) {
    const nonce = unknownNonce(ports, state, call.chainId)
    return prepareValued(ports, state, command, call, nonce, finish)
  }
  return screenedFirst(ports, command).then(async (screened) => {
    // A refused call needs no nonce: its lane stays new, so each such call would cost a request to
    // a node.
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
 * @param call the form that is valued
 * @param nonce the account's nonce on chain; null when it is not read
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
 * Simulating a call on a node costs more than screening it. Longer calldata is screened before it
 * is valued, so that expensive calls to listed addresses end here; shorter calldata is too cheap to
 * screen twice. A call that screening would refuse is valued without its calldata, because caps are
 * checked first.
 */
const VALUED_UNSCREENED_CHARS_MAX = 2 + 2 * 4_096

/** @returns why screening will refuse the call, or null */
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

/** Reads the nonce from the chain when the lane has not started; null when it has. */
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

/** Returns the first call with this Idempotency-Key. */
export function firstAnswer(
  { reader }: SubWalletPorts,
  state: SubWalletState,
  { idempotency, keyId }: Pick<SendCommand, 'idempotency' | 'keyId'>,
): PreparedSend['first'] {
  const lineageId = state.keys.get(keyId)?.lineageId
  if (idempotency === null || lineageId === undefined) return null
  return recordedAs(reader, state, lineageId, idempotency.key)
}

/** Returns the transaction that executed a quote, when it is stored. */
export function executedAs(
  { reader }: SubWalletPorts,
  state: SubWalletState,
  { executes }: Pick<SponsorCommand, 'executes'>,
): Transaction | null {
  if (executes === undefined) return null
  return recordedAs(reader, state, executes.lineageId, quoteKey(executes))?.tx ?? null
}

function recordedAs(
  reader: SubWalletPorts['reader'],
  state: SubWalletState,
  lineageId: LineageId,
  key: string,
): PreparedSend['first'] {
  // Includes commits since the last tick.
  const record = reader.fresh().idempotency.byKey(lineageId, key)
  if (record === undefined) return null
  const tx: Transaction | undefined =
    state.open.get(record.txId)?.tx ?? reader.transactions.byId(record.txId)
  // Lineages of another wallet have their own transactions.
  return tx?.subWalletId === state.subWalletId ? { record, tx } : null
}
