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
import { limitsCrossed } from './limit-crossings.js'
import { holdAgain, reopenSponsored } from './reopen-sponsored.js'
import { Sent } from './sent.js'
import { gasCostMicros, recordBeforeGas } from './sponsored-call.js'
import type { SponsoredCommand } from './sponsored-messages.js'
import type { SponsoredEntry } from './sponsored-state.js'
import { runningKey } from './state.js'
import type { Turn } from './turn.js'

type Of<T extends SponsoredCommand['type']> = Extract<SponsoredCommand, { type: T }>
type Update = Of<'sponsor-update'>

/**
 * Steps 5 and 6 of the lifecycle as the gas wallet tells them. What it tells is the whole picture,
 * so that the same update twice changes nothing.
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
  // What a gas wallet tells that was passed over says nothing about the one that was asked since.
  if (entry.sponsorship === null || entry.sponsorship.gasWalletId !== command.gasWalletId) return
  if (gas === null) {
    if (entry.tx !== null || entry.isResting) return
    if (tryNextGasWallet(turn, entry.sponsorship, command)) return
    if (restJob(turn, entry, entry.sponsorship, command)) return
    giveUp(turn, entry, command.refusal?.fault ?? fault('CHAIN_UNAVAILABLE'), command.nowMs)
    return
  }
  follow(turn, entry, entry.sponsorship, gas, command.nowMs)
  answer(turn, entry, command)
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

/** It is in flight again; the same update may say that it is mined again, or has ended. */
function reopened(turn: Turn, held: SponsoredEntry | undefined, command: Update): void {
  const { txId, gas, nowMs } = command
  if (!reopenSponsored(turn, held, command) || gas === null) return
  const entry = turn.state.sponsored.get(txId)
  if (entry === undefined || entry.sponsorship === null) return
  if (gas.mined === null && !isFinal(gas.status)) return
  follow(turn, entry, entry.sponsorship, gas, nowMs)
}

/**
 * A gas wallet that is empty or jammed is passed over. It has signed nothing, so the next may.
 * @returns false when there is no next one, or it would not do better
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
/** An intent lives for three minutes: where one rest is lost, many are left. */
const JOB_REST_MS_MAX = 15_000

/**
 * What people approved is not lost for want of the quorum or of a node. The gas wallet has signed
 * nothing, so the same intent is handed over again, to the same one, while it is good. Others have
 * a caller who is told.
 * @returns false where another attempt would not help, or would come too late
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

/** No gas wallet signed for it and none will, so nobody else has seen the intent. */
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
  nowMs: number,
): void {
  const { screenedAgainst } = entry
  const known = entry.tx ?? recordOf(turn, sponsorship, gas)
  if (known === null) return
  if (entry.tx === null) {
    const sent: Sponsorship = { ...sponsorship, stage: 'sent' }
    const event = { tx: known, sponsorship: sent, screenedAgainst, atMs: nowMs }
    turn.emit({ type: 'sponsored-sent', ...event })
    noteSigned(turn, known, [])
    for (const event of limitsCrossed(turn.state, known.keyId, nowMs)) turn.emit(event)
  }
  const { nonce, gasLimit, attempts, mined } = gas
  const moved = { ...known, nonce, gasLimit, attempts, mined, updatedAtMs: gas.updatedAtMs }
  if (isFinal(gas.status)) {
    if (known.status === 'signed' && mined !== null) {
      // The block overtook the update that a node has it.
      const tx: Transaction = { ...moved, status: 'broadcast' }
      turn.emit({ type: 'sponsored-changed', tx, tells: 'transaction.broadcast' })
    }
    finish(turn, sponsorship, moved, gas, nowMs)
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
  const held: Sponsorship = { ...sponsorship, stage: 'held' }
  turn.emit({ type: 'sponsored-ended', tx: failed, held, paidGasMicros, atMs: nowMs })
  turn.effect({ type: 'await-deadline', stage: 'held', txId, chainId, deadlineSeconds })
  const account = turn.state.wallet?.address
  const worthIt = deadlineSeconds * 1_000 - nowMs > CANCEL_AHEAD_MS
  if (failed.status === 'failed' && account !== undefined && worthIt) {
    turn.effect({ type: 'cancel-intent', sponsorship: held, account })
  }
}

/**
 * The same update may have made the record of it, as after a start: a repetition that was prepared
 * before that is on disk must find it under way, and a reorg that overtakes it how it ended.
 */
function tellRecorded(
  turn: Turn,
  { txId, lineageId, idempotency }: Sponsorship,
  { mined }: Transaction,
): void {
  const key = idempotency === null ? null : runningKey(lineageId, idempotency.key)
  turn.effect({
    type: 'tell-recorded',
    txId,
    runningKey: key,
    blockHash: mined?.blockHash ?? null,
  })
}

export function endRecorded(
  turn: Turn,
  { txId, runningKey: key, blockHash }: Of<'end-recorded'>,
): void {
  turn.emit({ type: 'sponsored-recorded', txId, runningKey: key, blockHash })
}

/** Later than that, the deadline is there before a cancellation. */
const CANCEL_AHEAD_MS = 30_000

/**
 * The cancellation is final: the intent's nonce is used, and its spend free. Of one that failed,
 * or that a restart forgot, the deadline takes care. It is no longer final where a reorg took it.
 */
function cancellationEnded(turn: Turn, cancelled: TxId, command: Update): void {
  const { gas, nowMs } = command
  const entry = turn.state.sponsored.get(cancelled)
  // What was read of a call that has been confirmed since is older than that.
  const isRead = entry === undefined && !turn.state.unrecorded.has(cancelled)
  if (isRead && gas !== null && gas.status !== 'confirmed') holdAgain(turn, command)
  if (entry?.phase !== 'held' || entry.tx === null || gas?.status !== 'confirmed') return
  const tx: Transaction = { ...entry.tx, spentMicros: 0n, updatedAtMs: nowMs }
  const paidGasMicros = gasCostMicros(gas.mined, entry.tx.valuation)
  turn.emit({ type: 'sponsored-expired', tx, paidGasMicros, atMs: nowMs })
}

const REVERTED = {
  code: 'EXECUTION_REVERTED',
  message:
    'The transaction was mined and reverted; its spend is free once the intent is cancelled or has expired.',
} as const

/** That a gas wallet ran dry is the service's business, not a lack of the caller's funds. */
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

/** The caller learns of the hash once a node was asked, or at once when that has to wait. */
function answer(turn: Turn, entry: SponsoredEntry, { gas, flight, txId }: Update): void {
  const { token, tx } = entry
  if (token === null || tx === null || flight === 'sending') return
  if (tx.status === 'dropped' && gas !== null) {
    const ranDry = gas.error === null || gas.error.code === 'INSUFFICIENT_FUNDS'
    turn.refuse(token, naming(ranDry ? unpaid() : fault('CHAIN_REJECTED'), txId))
  } else turn.answer(token, new Sent(tx, false))
  if (turn.state.sponsored.has(txId)) turn.emit({ type: 'sponsored-answered', txId })
}

/** From now on it is a transaction: `from` is the account, the hash is the gas wallet's. */
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
 * An intent can no longer be executed. Of one that failed the spend is free again, as of one that
 * no gas wallet was heard of about: none has stored a transaction with it, so none ever sent one.
 */
export function deadlinePassed(turn: Turn, command: Of<'deadline-passed'>): void {
  const { txId, isCarried, nowMs } = command
  const entry = turn.state.sponsored.get(txId)
  if (entry?.phase === 'handed' && entry.sponsorship !== null) {
    const account = turn.state.wallet?.address
    if (!isCarried) giveUp(turn, entry, fault('CHAIN_UNAVAILABLE'), nowMs)
    else if (account !== undefined) {
      // Its gas wallet sends its state again.
      turn.effect({ type: 'submit-job', sponsorship: entry.sponsorship, account })
    }
    return
  }
  if (entry === undefined || entry.phase !== 'held' || entry.tx === null) return
  const tx: Transaction = { ...entry.tx, spentMicros: 0n, updatedAtMs: nowMs }
  turn.emit({ type: 'sponsored-expired', tx, paidGasMicros: 0n, atMs: nowMs })
}
