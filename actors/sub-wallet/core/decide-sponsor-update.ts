import type { Call } from '../../../src/domain/call.js'
import { gasWalletsFor } from '../../../src/domain/gas-wallets.js'
import type { TxId } from '../../../src/domain/ids.js'
import type { Sponsorship } from '../../../src/domain/sponsorship.js'
import {
  type AccountTransaction,
  isFinal,
  type Transaction,
} from '../../../src/domain/transaction.js'
import { CATALOGUE } from '../../../src/errors/catalogue.js'
import { type Fault, fault, naming } from '../../../src/errors/fault.js'
import { noteSigned } from './breaker-watch.js'
import { dropOrphanedDelegation } from './decide-delegation.js'
import { gasLack } from './gas-budget-gate.js'
import { cancellationMicros, holdNeeded, holdWanted } from './gas-holds.js'
import { answerJoined } from './joined-callers.js'
import { limitsCrossed } from './limit-crossings.js'
import { holdAgain, reopenSponsored } from './reopen-sponsored.js'
import { Sent } from './sent.js'
import { gasCostMicros, recordBeforeGas, weiInMicros } from './sponsored-call.js'
import type { SponsoredCommand } from './sponsored-messages.js'
import type { SponsoredEntry } from './sponsored-state.js'
import { runningKeysOf } from './state.js'
import type { Turn } from './turn.js'

type Of<T extends SponsoredCommand['type']> = Extract<SponsoredCommand, { type: T }>
type Update = Of<'sponsor-update'>

/**
 * Steps 5 and 6 of the lifecycle, as the gas wallet reports them. A report holds the whole state,
 * so receiving it twice changes nothing.
 */
export function sponsorUpdate(turn: Turn, command: Update): void {
  const { txId, gas, cancels } = command
  if (cancels !== null) {
    cancellationEnded(turn, cancels, command)
    return
  }
  const entry = turn.state.sponsored.get(txId)
  if (entry === undefined || entry.phase === 'held') {
    reopened(turn, entry, command)
    return
  }
  // A report from a gas wallet that was passed over does not concern the one that was tried after
  // it.
  if (entry.sponsorship === null || entry.sponsorship.gasWalletId !== command.gasWalletId) return
  if (gas === null) {
    if (entry.tx !== null || entry.isResting) return
    const lack = holdNeeded(turn, entry, entry.sponsorship, command)
    if (lack === 'held') return
    if (lack !== null) {
      giveUp(turn, entry, lack, command.nowMs)
      return
    }
    if (tryNextGasWallet(turn, entry.sponsorship, command)) return
    if (restJob(turn, entry, entry.sponsorship, command)) return
    giveUp(turn, entry, command.refusal?.fault ?? fault('CHAIN_UNAVAILABLE'), command.nowMs)
    return
  }
  follow(turn, entry, entry.sponsorship, gas, command)
  answer(turn, entry, command)
  holdWanted(turn, entry, command)
  const account = turn.state.wallet?.address
  const { chainId } = entry
  if (gas.mined === null) {
    if (isFinal(gas.status)) dropOrphanedDelegation(turn, chainId)
  } else if (account !== undefined && turn.state.delegations.get(chainId)?.phase === 'pending') {
    // Even a reverted execution leaves the delegation in place.
    const minedAt = gas.mined.blockNumber
    turn.effect({ type: 'check-delegation', chainId, account, minedAt })
  }
}

/**
 * The transaction is in flight again; the same report may say that it is already mined again or has
 * ended.
 */
function reopened(turn: Turn, held: SponsoredEntry | undefined, command: Update): void {
  const { txId, gas } = command
  if (!reopenSponsored(turn, held, command) || gas === null) return
  const entry = turn.state.sponsored.get(txId)
  if (entry === undefined || entry.sponsorship === null) return
  if (gas.mined === null && !isFinal(gas.status)) return
  follow(turn, entry, entry.sponsorship, gas, command)
}

/**
 * Passes over a gas wallet that is empty or jammed; it has signed nothing, so the next may.
 * @returns false when there is no next gas wallet, or it would do no better
 */
function tryNextGasWallet(turn: Turn, sponsorship: Sponsorship, { refusal }: Update): boolean {
  const { chainId, subWalletId, gasWalletId } = sponsorship
  const account = turn.state.wallet?.address
  const others = gasWalletsFor(chainId, subWalletId)
  const next = others[others.indexOf(gasWalletId) + 1]
  if (refusal?.of !== 'gas-wallet' || next === undefined || account === undefined) return false
  const passed: Sponsorship = { ...sponsorship, gasWalletId: next }
  turn.emit({ type: 'sponsored-moved', sponsorship: passed })
  turn.effect({ type: 'submit-job', sponsorship: passed, account })
  return true
}

const JOB_REST_MS_MIN = 500
/** An intent is valid for three minutes, so the backoff must leave time for many attempts. */
const JOB_REST_MS_MAX = 15_000

/**
 * Tries again later, so that a call that people approved is not lost because the quorum or a node
 * is unavailable. The gas wallet has signed nothing, so the same intent goes to the same gas wallet
 * while it is valid. The caller of any other call is answered at once.
 * @returns false when another attempt would not help or would be too late
 */
function restJob(
  turn: Turn,
  { txId, rests }: SponsoredEntry,
  { waited, deadlineSeconds }: Sponsorship,
  { refusal, nowMs }: Update,
): boolean {
  const delayMs = Math.min(JOB_REST_MS_MIN * 2 ** Math.min(rests, 10), JOB_REST_MS_MAX)
  if (waited === undefined || refusal === null || !CATALOGUE[refusal.fault.code].retryable) {
    return false
  }
  if (nowMs + delayMs >= deadlineSeconds * 1_000) return false
  turn.emit({ type: 'sponsored-resting', txId, on: true })
  turn.effect({ type: 'rest-job', txId, delayMs })
  return true
}

export function jobRested(turn: Turn, { txId }: Of<'job-rested'>): void {
  const entry = turn.state.sponsored.get(txId)
  const account = turn.state.wallet?.address
  if (entry?.isResting !== true || entry.sponsorship === null || account === undefined) return
  turn.emit({ type: 'sponsored-resting', txId, on: false })
  turn.effect({ type: 'submit-job', sponsorship: entry.sponsorship, account })
}

/**
 * Gives the call up. No gas wallet has signed for the intent and none will, so no third party has
 * seen it.
 */
function giveUp(turn: Turn, entry: SponsoredEntry, why: Fault, nowMs: number): void {
  const { txId, chainId, token, sponsorship, screenedAgainst } = entry
  if (sponsorship === null) return
  const { code, message } = why
  const tx = recordBeforeGas(turn.state, sponsorship, 'dropped', nowMs, { code, message })
  turn.emit({ type: 'sponsored-withdrawn', txId, tx, atMs: nowMs })
  const { keyId, requestId, kind, router, calldata, valuation } = sponsorship
  const call: Call = { chainId, to: router, value: 0n, data: calldata }
  const refused = { txId, keyId, requestId, kind, call, valuation }
  turn.refuseSend(token, why, refused, screenedAgainst)
  dropOrphanedDelegation(turn, chainId)
}

function follow(
  turn: Turn,
  entry: SponsoredEntry,
  sponsorship: Sponsorship,
  gas: AccountTransaction,
  { heldWei, nowMs }: Update,
): void {
  const { screenedAgainst } = entry
  const known = entry.tx ?? recordOf(turn, sponsorship, gas)
  if (known === null) return
  if (entry.tx === null) {
    const { valuation } = sponsorship
    const gasMicros =
      heldWei === undefined ? sponsorship.gasMicros : weiInMicros(heldWei, valuation)
    const sent: Sponsorship = { ...sponsorship, gasMicros, stage: 'sent' }
    const event = { tx: known, sponsorship: sent, screenedAgainst, atMs: nowMs }
    turn.emit({ type: 'sponsored-sent', ...event })
    noteSigned(turn, known, [])
    for (const event of limitsCrossed(turn.state, known.keyId, nowMs)) turn.emit(event)
  }
  const { nonce, gasLimit, attempts, mined } = gas
  const moved = { ...known, nonce, gasLimit, attempts, mined, updatedAtMs: gas.updatedAtMs }
  if (isFinal(gas.status)) {
    if (known.status === 'signed' && mined !== null) {
      // The block arrived before the report that a node has accepted the transaction.
      const tx: Transaction = { ...moved, status: 'broadcast' }
      turn.emit({ type: 'sponsored-changed', tx, tells: 'transaction.broadcast' })
    }
    finish(turn, entry.sponsorship ?? sponsorship, moved, gas, nowMs)
    return
  }
  const tx: Transaction = { ...moved, status: gas.status }
  const first = tx.status === 'broadcast' && known.status === 'signed'
  turn.emit({ type: 'sponsored-changed', tx, tells: first ? 'transaction.broadcast' : null })
}

function finish(
  turn: Turn,
  sponsorship: Sponsorship,
  tx: Transaction,
  gas: AccountTransaction,
  nowMs: number,
): void {
  const { txId, chainId, deadlineSeconds, reservation, valuation } = sponsorship
  const paidGasMicros = gasCostMicros(gas.mined, valuation)
  if (gas.status === 'confirmed') {
    const spentMicros = valuation.valueMicros
    const done: Transaction = { ...tx, status: 'confirmed', spentMicros, confirmedAtMs: nowMs }
    turn.emit({ type: 'sponsored-ended', tx: done, held: null, paidGasMicros, atMs: nowMs })
    tellRecorded(turn, sponsorship, done)
    return
  }
  const failed: Transaction = {
    ...tx,
    status: gas.status === 'failed' ? 'failed' : 'dropped',
    spentMicros: reservation.micros,
    error: gas.status === 'failed' ? REVERTED : dropError(gas),
  }
  const account = turn.state.wallet?.address
  const worthIt = deadlineSeconds * 1_000 - nowMs > CANCEL_AHEAD_MS
  const cancelMicros = cancellationMicros(sponsorship, gas)
  // The same event frees what the failed call held.
  const moreMicros = paidGasMicros + cancelMicros - sponsorship.gasMicros
  const cancels =
    failed.status === 'failed' &&
    account !== undefined &&
    worthIt &&
    gasLack(turn.state, moreMicros, nowMs) === null
  const held: Sponsorship = {
    ...{ ...sponsorship, stage: 'held' },
    ...(cancels ? { cancelMicros } : {}),
  }
  turn.emit({ type: 'sponsored-ended', tx: failed, held, paidGasMicros, atMs: nowMs })
  turn.effect({ type: 'await-deadline', stage: 'held', txId, chainId, deadlineSeconds })
  if (cancels) turn.effect({ type: 'cancel-intent', sponsorship: held, account })
}

/**
 * Reports an end that is recorded. The same report may have created the record, for example after a
 * restart: a repeated call that was prepared before the record was stored must find the call under
 * way, and a later reorg must find how it ended.
 */
function tellRecorded(turn: Turn, sponsorship: Sponsorship, { mined }: Transaction): void {
  const { txId } = sponsorship
  const runningKeys = runningKeysOf(sponsorship)
  turn.effect({ type: 'tell-recorded', txId, runningKeys, blockHash: mined?.blockHash ?? null })
}

export function endRecorded(
  turn: Turn,
  { txId, runningKeys, blockHash }: Of<'end-recorded'>,
): void {
  turn.emit({ type: 'sponsored-recorded', txId, runningKeys, blockHash })
}

/** When less time than this is left, the deadline passes before a cancellation could be mined. */
const CANCEL_AHEAD_MS = 30_000

/**
 * Handles a final cancellation: the intent's nonce is used and its spend is free. When a
 * cancellation failed or a restart forgot it, the deadline frees the spend. A reorg can make the
 * cancellation not final again.
 */
function cancellationEnded(turn: Turn, cancelled: TxId, command: Update): void {
  const { gas, nowMs } = command
  const entry = turn.state.sponsored.get(cancelled)
  // The stored record is older than a confirmation that arrived after it was read.
  const isRead = entry === undefined && !turn.state.unrecorded.has(cancelled)
  if (isRead && gas !== null && gas.status !== 'confirmed') holdAgain(turn, command)
  if (entry?.phase !== 'held' || entry.tx === null) return
  if (gas?.status !== 'confirmed') {
    cancellationFailed(turn, entry, command)
    return
  }
  const tx: Transaction = { ...entry.tx, spentMicros: 0n, updatedAtMs: nowMs }
  const paidGasMicros = gasCostMicros(gas.mined, entry.tx.valuation)
  turn.emit({ type: 'sponsored-expired', tx, paidGasMicros, atMs: nowMs })
}

/**
 * The cancellation failed: its hold ends, and the gas that its transaction cost counts as paid,
 * although it ended nothing.
 */
function cancellationFailed(
  turn: Turn,
  { sponsorship }: SponsoredEntry,
  { gas, nowMs }: Update,
): void {
  if (sponsorship?.cancelMicros === undefined || (gas !== null && !isFinal(gas.status))) return
  const { cancelMicros: _, ...rest } = sponsorship
  const paidGasMicros = gasCostMicros(gas?.mined ?? null, sponsorship.valuation)
  turn.emit({ type: 'cancellation-failed', sponsorship: rest, paidGasMicros, atMs: nowMs })
}

const REVERTED = {
  code: 'EXECUTION_REVERTED',
  message:
    'The transaction was mined and reverted; its spend is free once the intent is cancelled or has expired.',
} as const

/** Hides a gas wallet's lack of funds: that is the service's problem and not the caller's. */
function dropError(gas: AccountTransaction): NonNullable<Transaction['error']> {
  if (gas.error !== null && gas.error.code !== 'INSUFFICIENT_FUNDS') return gas.error
  const { code, message } = unpaid()
  return { code, message }
}

function unpaid(): Fault {
  return fault(
    'CHAIN_UNAVAILABLE',
    {},
    'The service cannot pay for sponsored transactions on this chain at the moment.',
    'a gas wallet is out of funds',
  )
}

/**
 * Answers the caller with the hash after a node was tried, or at once when the broadcast has to
 * wait.
 */
function answer(turn: Turn, entry: SponsoredEntry, { gas, flight, txId }: Update): void {
  const { token, tx } = entry
  if (tx === null || flight === 'sending') return
  if (token === null && !turn.state.joined.has(txId)) return
  if (tx.status === 'dropped' && gas !== null) {
    const ranDry = gas.error === null || gas.error.code === 'INSUFFICIENT_FUNDS'
    turn.refuse(token, naming(ranDry ? unpaid() : fault('CHAIN_REJECTED'), txId))
    // Asked later, the quote would be answered with this record.
    answerJoined(turn, new Sent(tx, true))
  } else turn.answer(token, new Sent(tx, false))
  if (turn.state.sponsored.has(txId)) turn.emit({ type: 'sponsored-answered', txId })
}

/**
 * The transaction record of a signed sponsored call: `from` is the account, and the hash is the gas
 * wallet's.
 */
function recordOf(
  turn: Turn,
  sponsorship: Sponsorship,
  gas: AccountTransaction,
): Transaction | null {
  const { wallet } = turn.state
  if (wallet === null) return null
  const { txId, keyId, lineageId, requestId, chainId, kind, router, calldata } = sponsorship
  const { valuation, reservation, waited, counted } = sponsorship
  const unitsTaken = counted?.taken ?? []
  return {
    ...{ txId, keyId, lineageId, requestId, kind },
    ...(unitsTaken.length === 0 ? {} : { unitsTaken }),
    ...(waited === undefined ? {} : { approval: waited.approval }),
    call: { chainId, to: router, value: 0n, data: calldata },
    subWalletId: wallet.subWalletId,
    userId: wallet.userId,
    from: wallet.address,
    nonce: gas.nonce,
    gasLimit: gas.gasLimit,
    status: 'signed',
    attempts: gas.attempts,
    valuation,
    reservation,
    spentMicros: reservation.micros,
    mined: null,
    error: null,
    createdAtMs: waited?.createdAtMs ?? sponsorship.createdAtMs,
    updatedAtMs: gas.updatedAtMs,
    confirmedAtMs: null,
  }
}

/**
 * The deadline has passed and the intent can no longer be executed. This frees the spend of a
 * failed intent, and of an intent that no gas wallet answered for: none stored a transaction for
 * it, so none was ever sent.
 */
export function deadlinePassed(turn: Turn, command: Of<'deadline-passed'>): void {
  const { txId, isCarried, nowMs } = command
  const entry = turn.state.sponsored.get(txId)
  if (entry?.phase === 'handed' && entry.sponsorship !== null) {
    const account = turn.state.wallet?.address
    if (!isCarried) giveUp(turn, entry, fault('CHAIN_UNAVAILABLE'), nowMs)
    else if (account !== undefined) {
      // The gas wallet answers with its state.
      turn.effect({ type: 'submit-job', sponsorship: entry.sponsorship, account })
    }
    return
  }
  if (entry === undefined || entry.phase !== 'held' || entry.tx === null) return
  const tx: Transaction = { ...entry.tx, spentMicros: 0n, updatedAtMs: nowMs }
  // A cancellation that is still under way is not followed further; it counts as much as it held.
  const paidGasMicros = entry.sponsorship?.cancelMicros ?? 0n
  turn.emit({ type: 'sponsored-expired', tx, paidGasMicros, atMs: nowMs })
}
