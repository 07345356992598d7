import type { GasWalletId } from '../../../src/domain/ids.js'
import { isSponsored, type Sponsorship } from '../../../src/domain/sponsorship.js'
import {
  type AccountTransaction,
  isFinal,
  type Transaction,
} from '../../../src/domain/transaction.js'
import { countedAtMs } from './policy-ledgers.js'
import type { EndedCall, SponsoredCommand } from './sponsored-messages.js'
import type { SponsoredEntry } from './sponsored-state.js'
import type { Turn } from './turn.js'

type Update = Extract<SponsoredCommand, { type: 'sponsor-update' }>

/** A reorg took its block away after it had ended: the reservation counts again. */
export function reopenSponsored(
  turn: Turn,
  entry: SponsoredEntry | undefined,
  { gas, stored = null, nowMs, gasWalletId }: Update,
): void {
  const tx = entry?.tx ?? stored?.tx ?? null
  if (gas === null || isFinal(gas.status) || tx === null || !isFinal(tx.status)) return
  if (tx.status === 'dropped' || !isCarriedBy(tx, gas)) return
  const again = stored === null ? null : sponsorshipOf(stored, gasWalletId)
  const sponsorship = entry?.sponsorship ?? again
  if (sponsorship === null) return
  // Its gas was counted when it ended.
  const sent: Sponsorship = { ...sponsorship, gasMicros: 0n, stage: 'sent' }
  turn.emit({ type: 'sponsored-reopened', tx, sponsorship: sent, atMs: nowMs })
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
