import type { GasWalletId } from '../../../src/domain/ids.js'
import { utcDay } from '../../../src/domain/spend.js'
import { isSponsored, type Sponsorship } from '../../../src/domain/sponsorship.js'
import {
  type AccountTransaction,
  isFinal,
  type Transaction,
} from '../../../src/domain/transaction.js'
import { countedAtMs } from './policy-ledgers.js'
import { gasCostMicros } from './sponsored-call.js'
import type { EndedCall, SponsoredCommand } from './sponsored-messages.js'
import type { SponsoredEntry } from './sponsored-state.js'
import type { Turn } from './turn.js'

type Update = Extract<SponsoredCommand, { type: 'sponsor-update' }>

/**
 * A reorg took its block away after it had ended: the reservation counts again. It may have ended
 * anew by now, where a crash came before the updates in between.
 * @returns false where nothing changed
 */
export function reopenSponsored(
  turn: Turn,
  entry: SponsoredEntry | undefined,
  { txId, gas, stored = null, nowMs, gasWalletId }: Update,
): boolean {
  // As it is held, or has ended, here; what is on disk may be older than that.
  const known = entry ?? turn.state.unrecorded.get(txId)
  const tx = known?.tx ?? (stored === null ? null : asItEnded(stored))
  if (gas === null || tx === null || !isFinal(tx.status)) return false
  // Of what was dropped a block has what outbid it; what none ever had is not taken back.
  if (tx.mined === null || !isCarriedBy(tx, gas) || hasEndedSo(tx, gas)) return false
  const kept = stored === null ? null : sponsorshipOf(stored, gasWalletId)
  const sponsorship = known?.sponsorship ?? kept
  if (sponsorship === null) return false
  const gasMicros = gasTakenBack(turn, tx)
  const sent: Sponsorship = { ...sponsorship, gasMicros, stage: 'sent' }
  const inFlight = { status: 'broadcast', mined: null, error: null, confirmedAtMs: null } as const
  const again: Transaction = { ...reserved(tx, sent), ...inFlight }
  turn.emit({ type: 'sponsored-reopened', tx, again, sponsorship: sent, atMs: nowMs })
  return true
}

/**
 * A reorg took back the cancellation of an intent that had failed: it could be executed again, so
 * its spend is held until its deadline after all, or until the cancellation is mined once more.
 */
export function holdAgain(turn: Turn, { stored = null, gasWalletId, nowMs }: Update): void {
  if (stored === null || stored.tx.status !== 'failed') return
  const { deadlineSeconds } = stored
  // Its spend came free with the deadline, and a cancellation that is late changes nothing.
  if (nowMs >= deadlineSeconds * 1_000) return
  const sponsorship = sponsorshipOf(stored, gasWalletId)
  if (sponsorship === null) return
  const held: Sponsorship = { ...sponsorship, stage: 'held' }
  const tx = asItEnded(stored)
  const again = reserved(tx, held)
  turn.emit({ type: 'sponsored-reopened', tx, again, sponsorship: held, atMs: nowMs })
  const { txId, chainId } = held
  turn.effect({ type: 'await-deadline', stage: 'held', txId, chainId, deadlineSeconds })
}

/**
 * A record that was read before the last end was on disk still says that the spend of a call that moved
 * nothing is held. It is not held here, so it came free: taken for used, it would come free once more.
 */
function asItEnded({ tx }: EndedCall): Transaction {
  return tx.status === 'confirmed' ? tx : { ...tx, spentMicros: 0n }
}

function reserved(tx: Transaction, { reservation }: Sponsorship): Transaction {
  return { ...tx, spentMicros: reservation.micros }
}

function hasEndedSo({ status, mined }: Transaction, gas: AccountTransaction): boolean {
  return gas.status === status && gas.mined?.blockHash === mined?.blockHash
}

/**
 * What its block had cost of the day's gas: held from now on, and counted once more when it ends.
 * That of an earlier day stays counted there.
 */
function gasTakenBack({ state }: Turn, { mined, valuation, createdAtMs }: Transaction): bigint {
  const { day, micros } = state.sponsoredGas
  if (utcDay(createdAtMs) !== day) return 0n
  const paidMicros = gasCostMicros(mined, valuation)
  if (paidMicros > micros) return micros
  return paidMicros
}

/** False for what a gas wallet sent that had been passed over. */
function isCarriedBy({ attempts }: Transaction, gas: AccountTransaction): boolean {
  const hashes = new Set(gas.attempts.map(({ txHash }) => txHash))
  return attempts.some(({ txHash }) => hashes.has(txHash))
}

/** It was deleted when the call ended; what it holds is said by the record and its calldata. */
function sponsorshipOf(
  { tx, deadlineSeconds }: EndedCall,
  gasWalletId: GasWalletId,
): Sponsorship | null {
  const { txId, subWalletId, keyId, lineageId, requestId, kind, unitsTaken } = tx
  const { valuation, reservation } = tx
  const { chainId, to: router, data: calldata } = tx.call
  if (!isSponsored(kind)) return null
  const atMs = countedAtMs(tx)
  const { valueMicros: micros } = valuation
  return {
    ...{ txId, subWalletId, keyId, lineageId, requestId, chainId, kind, gasWalletId },
    ...{ router, calldata, deadlineSeconds, valuation, reservation, createdAtMs: atMs },
    ...(unitsTaken === undefined ? {} : { counted: { atMs, micros, taken: unitsTaken } }),
    authorization: null,
    gasMicros: 0n,
    idempotency: null,
    stage: 'sent',
  }
}
