import { gasWalletsFor } from '../../src/domain/gas-wallets.js'
import { valueUsdMicros } from '../../src/domain/money.js'
import type { Sponsorship } from '../../src/domain/sponsorship.js'
import { isFinal, type Transaction } from '../../src/domain/transaction.js'
import { type Fault, fault } from '../../src/errors/fault.js'
import { dropOrphanedDelegation } from './decide-delegation.js'
import { limitsCrossed } from './limit-crossings.js'
import type { SponsoredCommand } from './sponsored-messages.js'
import type { SponsoredEntry } from './sponsored-state.js'
import type { Turn } from './turn.js'

type Of<T extends SponsoredCommand['type']> = Extract<SponsoredCommand, { type: T }>
type News = Of<'sponsor-news'>

const NATIVE_DECIMALS = 18

/**
 * Steps 5 and 6 of the lifecycle as the gas wallet tells them. What it tells is the whole picture,
 * so that the same news twice changes nothing.
 */
export function sponsorNews(turn: Turn, command: News): void {
  const { txId, gas } = command
  const entry = turn.state.sponsored.get(txId)
  if (entry === undefined || entry.phase === 'held') {
    reopen(turn, entry, command)
    return
  }
  if (entry.sponsorship === null) return
  if (gas === null) {
    if (entry.tx === null) giveUp(turn, entry, command.refusal ?? fault('CHAIN_UNAVAILABLE'))
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
    turn.effect({ type: 'check-delegation', chainId, account })
  }
}

/** No gas wallet signed for it and none will, so nobody else has seen the intent. */
function giveUp(turn: Turn, entry: SponsoredEntry, why: Fault): void {
  const { txId, chainId, token, sponsorship, screenedAgainst } = entry
  if (sponsorship === null) return
  turn.emit({ type: 'sponsored-released', txId })
  const { keyId, requestId, kind, router, calldata } = sponsorship
  const call = { txId, keyId, requestId, chainId, kind, to: router, value: 0n, data: calldata }
  turn.refuseSend(token, why, call, screenedAgainst)
  dropOrphanedDelegation(turn, chainId)
}

function follow(
  turn: Turn,
  entry: SponsoredEntry,
  sponsorship: Sponsorship,
  gas: Transaction,
  nowMs: number,
): void {
  const { screenedAgainst } = entry
  const known = entry.tx ?? recordOf(turn, sponsorship, gas)
  if (known === null) return
  if (entry.tx === null) {
    const sent: Sponsorship = { ...sponsorship, stage: 'sent' }
    turn.emit({ type: 'sponsored-sent', tx: known, sponsorship: sent, screenedAgainst })
    for (const event of limitsCrossed(turn.state, known, nowMs)) turn.emit(event)
  }
  const { nonce, gasLimit, attempts, mined } = gas
  const moved = { ...known, nonce, gasLimit, attempts, mined, updatedAtMs: gas.updatedAtMs }
  if (isFinal(gas.status)) {
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
  gas: Transaction,
  nowMs: number,
): void {
  const { txId, chainId, deadlineSeconds, reservation, valuation } = sponsorship
  const paidGasMicros = valueUsdMicros(
    gas.mined?.feeWei ?? 0n,
    NATIVE_DECIMALS,
    valuation.nativePrice,
    valuation.nativePriceDecimals,
  )
  if (gas.status === 'confirmed') {
    const spentMicros = valuation.valueMicros
    const done: Transaction = { ...tx, status: 'confirmed', spentMicros, confirmedAtMs: nowMs }
    turn.emit({ type: 'sponsored-ended', tx: done, held: null, paidGasMicros, atMs: nowMs })
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
  turn.effect({ type: 'await-deadline', txId, chainId, deadlineSeconds })
}

const REVERTED = {
  code: 'EXECUTION_REVERTED',
  message: 'The transaction was mined and reverted; its spend is free once the intent has expired.',
} as const

/** That a gas wallet ran dry is the service's business, not a lack of the caller's funds. */
function dropError(gas: Transaction): NonNullable<Transaction['error']> {
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
function answer(turn: Turn, entry: SponsoredEntry, { gas, flight, txId }: News): void {
  const { token, tx } = entry
  if (token === null || tx === null || flight === 'sending') return
  if (tx.status === 'dropped' && gas !== null) {
    const ranDry = gas.error === null || gas.error.code === 'INSUFFICIENT_FUNDS'
    turn.refuse(token, ranDry ? unpaid() : fault('CHAIN_REJECTED'))
  } else turn.answer(token, { tx, replayed: false })
  if (turn.state.sponsored.has(txId)) turn.emit({ type: 'sponsored-answered', txId })
}

/** From now on it is a transaction: `from` is the account, the hash is the gas wallet's. */
function recordOf(turn: Turn, sponsorship: Sponsorship, gas: Transaction): Transaction | null {
  const { wallet } = turn.state
  if (wallet === null) return null
  const { txId, keyId, lineageId, requestId, chainId, kind, router, calldata } = sponsorship
  const { valuation, reservation, createdAtMs } = sponsorship
  return {
    ...{ txId, keyId, lineageId, requestId, chainId, kind },
    subWalletId: wallet.subWalletId,
    userId: wallet.userId,
    from: wallet.address,
    to: router,
    value: 0n,
    data: calldata,
    nonce: gas.nonce,
    gasLimit: gas.gasLimit,
    status: 'signed',
    attempts: gas.attempts,
    valuation,
    reservation,
    spentMicros: reservation.micros,
    mined: null,
    error: null,
    createdAtMs,
    updatedAtMs: gas.updatedAtMs,
    confirmedAtMs: null,
  }
}

/** Longest that an intent may live (AgentRouter, MAX_LIFETIME). */
const LIFETIME_SECONDS_MAX = 600

/** A reorg took its block away after it had ended: the reservation stands again. */
function reopen(turn: Turn, entry: SponsoredEntry | undefined, command: News): void {
  const { gas, stored, nowMs } = command
  const tx = entry?.tx ?? stored ?? null
  if (gas === null || isFinal(gas.status) || tx === null || !isFinal(tx.status)) return
  if (tx.status === 'dropped') return
  const { txId, subWalletId, keyId, lineageId, requestId, chainId, kind, createdAtMs } = tx
  if (kind === 'send') return
  const [gasWalletId] = gasWalletsFor(chainId, subWalletId)
  if (gasWalletId === undefined) return
  const sponsorship: Sponsorship = entry?.sponsorship ?? {
    ...{ txId, subWalletId, keyId, lineageId, requestId, chainId, kind, createdAtMs, gasWalletId },
    router: tx.to,
    calldata: tx.data,
    authorization: null,
    deadlineSeconds: Math.floor(createdAtMs / 1_000) + LIFETIME_SECONDS_MAX,
    valuation: tx.valuation,
    reservation: tx.reservation,
    gasMicros: 0n,
    idempotency: null,
    stage: 'sent',
  }
  const sent: Sponsorship = { ...sponsorship, stage: 'sent' }
  turn.emit({ type: 'sponsored-reopened', tx, sponsorship: sent, atMs: nowMs })
}

/** A failed intent can no longer be executed: its spend is free again. */
export function deadlinePassed(turn: Turn, { txId, nowMs }: Of<'deadline-passed'>): void {
  const entry = turn.state.sponsored.get(txId)
  if (entry === undefined || entry.phase !== 'held' || entry.tx === null) return
  const tx: Transaction = { ...entry.tx, spentMicros: 0n, updatedAtMs: nowMs }
  turn.emit({ type: 'sponsored-expired', tx, atMs: nowMs })
}
