import type { GasWalletId } from '../../../src/domain/ids.js'
import type { UsdMicros } from '../../../src/domain/money.js'
import { utcDay } from '../../../src/domain/spend.js'
import { isSponsored, type Sponsorship } from '../../../src/domain/sponsorship.js'
import {
  type AccountTransaction,
  isFinal,
  type Transaction,
  wasGivenUp,
} from '../../../src/domain/transaction.js'
import { countedAtMs } from './policy-ledgers.js'
import { gasCostMicros, weiInMicros } from './sponsored-call.js'
import type { EndedCall, SponsoredCommand } from './sponsored-messages.js'
import type { SponsoredEntry } from './sponsored-state.js'
import type { Turn } from './turn.js'

type Update = Extract<SponsoredCommand, { type: 'sponsor-update' }>

/**
 * Reopens a call whose block a reorg removed after the call had ended: its reservation counts
 * again. When a crash lost the reports in between, it may already have ended again.
 * @returns false when nothing changed
 */
export function reopenSponsored(
  turn: Turn,
  entry: SponsoredEntry | undefined,
  { txId, gas, stored = null, nowMs, gasWalletId }: Update,
): boolean {
  // Memory is newer than the disk.
  const known = entry ?? turn.state.unrecorded.get(txId)
  const tx = known?.tx ?? (stored === null ? null : asItEnded(stored))
  if (gas === null || tx === null || !isFinal(tx.status)) return false
  // A call that no block contained is in flight again only when its gas wallet takes it up.
  if (tx.mined === null && (!wasGivenUp(tx) || isFinal(gas.status))) return false
  if (!isCarriedBy(tx, gas) || hasEndedSo(tx, gas)) return false
  const kept = stored === null ? null : sponsorshipOf(stored, gasWalletId)
  const sponsorship = known?.sponsorship ?? kept
  if (sponsorship === null) return false
  const takenBackMicros = gasTakenBack(turn, tx)
  const gasMicros = worstGasMicros(tx, gas)
  const sent: Sponsorship = { ...sponsorship, gasMicros, stage: 'sent' }
  const inFlight = { status: 'broadcast', mined: null, error: null, confirmedAtMs: null } as const
  const again: Transaction = { ...reserved(tx, sent), ...inFlight }
  turn.emit({
    ...{ type: 'sponsored-reopened', tx, again, sponsorship: sent },
    ...{ takenBackMicros, atMs: nowMs },
  })
  return true
}

/**
 * Holds the spend of a failed intent again when a reorg removed its cancellation: the intent could
 * be executed, so the spend is held until its deadline or until the cancellation is mined again.
 */
export function holdAgain(turn: Turn, { stored = null, gasWalletId, nowMs }: Update): void {
  if (stored === null || stored.tx.status !== 'failed') return
  const { deadlineSeconds } = stored
  // The deadline already freed the spend, and a late cancellation changes nothing.
  if (nowMs >= deadlineSeconds * 1_000) return
  const sponsorship = sponsorshipOf(stored, gasWalletId)
  if (sponsorship === null) return
  const held: Sponsorship = { ...sponsorship, stage: 'held' }
  const tx = asItEnded(stored)
  const again = reserved(tx, held)
  // The cost of the cancellation stays counted, so that mining it again costs nothing more.
  turn.emit({
    ...{ type: 'sponsored-reopened', tx, again, sponsorship: held },
    ...{ takenBackMicros: 0n, atMs: nowMs },
  })
  const { txId, chainId } = held
  turn.effect({ type: 'await-deadline', stage: 'held', txId, chainId, deadlineSeconds })
}

/**
 * A record that was read before the last end was stored still shows the spend of a call that moved
 * nothing as held. It is not held here any longer: counted as used, it would be freed twice.
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
 * The gas that its block cost today: it is held from now on, and counted again when the call ends.
 * Gas of an earlier day stays counted there.
 */
function gasTakenBack({ state }: Turn, { mined, valuation, createdAtMs }: Transaction): bigint {
  const { day, micros } = state.sponsoredGas
  if (utcDay(createdAtMs) !== day) return 0n
  const paidMicros = gasCostMicros(mined, valuation)
  if (paidMicros > micros) return micros
  return paidMicros
}

/**
 * The most that its gas may cost in another block: the signed limit, plus the L1 data fee that the
 * chain charged.
 */
function worstGasMicros(
  { valuation, mined }: Transaction,
  { gasLimit, attempts }: AccountTransaction,
): UsdMicros {
  let maxFeePerGas = 0n
  for (const one of attempts) {
    if (one.maxFeePerGas > maxFeePerGas) maxFeePerGas = one.maxFeePerGas
  }
  const signedMicros = weiInMicros(gasLimit * maxFeePerGas, valuation)
  const paidMicros = gasCostMicros(mined, valuation)
  if (signedMicros > paidMicros) return signedMicros
  return paidMicros
}

/** False for a transaction of a gas wallet that had been passed over. */
function isCarriedBy({ attempts }: Transaction, gas: AccountTransaction): boolean {
  const hashes = new Set(gas.attempts.map(({ txHash }) => txHash))
  return attempts.some(({ txHash }) => hashes.has(txHash))
}

/**
 * Rebuilds the sponsorship, which was deleted when the call ended, from the record and its
 * calldata.
 */
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
