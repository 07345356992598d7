import type { z } from 'zod'
import type { auditPage } from '../api/console-records.js'
import type { TransactionView } from '../api/transaction.js'
import type { Address, Hex } from '../domain/ids.js'
import { parseUsd } from '../domain/money.js'
import { COUNTED_REFUSALS, replayBreakers, type Trip, type Watched } from '../policy/breakers.js'
import { payeesOf as payeesOfCall } from '../policy/payees.js'
import type { Breaker } from '../policy/policy.js'

/** Recomputes from the owner's records when a key's breakers had to trip. */

export type AuditView = z.infer<typeof auditPage>['records'][number]

interface BreakerLog {
  readonly breakers: readonly Breaker[]
  /** The key, its predecessors and its successors. */
  readonly keyIds: ReadonlySet<string>
  /** The keys that they made, at every level: their calls count for the key as well. */
  readonly idsBelow: ReadonlySet<string>
  readonly records: readonly AuditView[]
  /** All transactions of the sub-wallet, whatever the key. */
  readonly transactions: readonly TransactionView[]
}

interface ReplayedTrip extends Pick<Trip, 'atMs' | 'reason'> {
  /** When the breaker froze the key or the user; null when the trail has no such freeze. */
  readonly frozenAtMs: number | null
}

/**
 * How far a record's time may differ. The trail dates a refusal when it is written, and repetitions
 * within a minute by the last one; a signed call has its own record's time.
 */
const APART_MS_MAX = 5_000

export interface Replayed {
  readonly trips: readonly ReplayedTrip[]
  readonly unexplained: readonly AuditView[]
}

/** @returns the trips, and the breaker freezes that no trip explains */
export function replayLog(log: BreakerLog): Replayed {
  const frozen = log.records.filter(
    ({ type, key_id, details }) =>
      type === 'key.frozen' && log.keyIds.has(key_id ?? '') && details.by === 'breaker',
  )
  return explained(replayBreakers(log.breakers, watchedOf(log)), frozen)
}

/** Matches each trip with the freeze that it caused. */
export function explained(
  tripped: readonly Pick<Trip, 'atMs' | 'reason'>[],
  frozen: readonly AuditView[],
): Replayed {
  const found = new Set<AuditView>()
  const trips = tripped.map(({ atMs, reason }): ReplayedTrip => {
    const by = frozen.find(
      (one) => !found.has(one) && Math.abs(Date.parse(one.at) - atMs) <= APART_MS_MAX,
    )
    if (by !== undefined) found.add(by)
    return { atMs, reason, frozenAtMs: by === undefined ? null : Date.parse(by.at) }
  })
  return { trips, unexplained: frozen.filter((one) => !found.has(one)) }
}

interface Entry {
  readonly atMs: number
  /** Null for a refusal. */
  readonly tx: TransactionView | null
  /** Empty of a refusal. */
  readonly payees: readonly Address[]
  readonly micros: bigint
  /**
   * True for the key's lineage and the keys below it; payments by others of the sub-wallet also
   * count as known.
   */
  readonly isOwn: boolean
}

/** @returns the events that the key's breakers watched, by time */
export function watchedOf({ records, transactions, keyIds, idsBelow }: BreakerLog): Watched[] {
  const isOfLine = (keyId: string | null) => {
    const id = keyId ?? ''
    return keyIds.has(id) || idsBelow.has(id)
  }
  const byId = new Map(transactions.map((tx) => [tx.tx_id, tx]))
  const all = records
    .flatMap((record): Entry[] => {
      const atMs = Date.parse(record.at)
      const { code, repeated, reserved_usd } = record.details
      if (record.type === 'send.refused') {
        const isCounted = typeof code === 'string' && COUNTED_REFUSALS.has(code)
        if (!isCounted || !isOfLine(record.key_id)) return []
        const times = typeof repeated === 'number' ? repeated : 1
        return Array.from({ length: times }, () => ({
          atMs,
          tx: null,
          payees: [],
          micros: 0n,
          isOwn: true,
        }))
      }
      const tx = byId.get(record.tx_id ?? '')
      if (record.type !== 'send.allowed' || tx === undefined) return []
      const micros = typeof reserved_usd === 'string' ? parseUsd(reserved_usd) : null
      const payees = payeesOf(tx, record)
      return [{ atMs, tx, payees, micros: micros ?? 0n, isOwn: isOfLine(record.key_id) }]
    })
    .sort((a, b) => a.atMs - b.atMs)
  const paid = new Map<string, number>()
  return all.flatMap(({ atMs, tx, payees, micros, isOwn }): Watched[] => {
    if (tx === null) return [{ type: 'refused', atMs }]
    const fresh = payees.filter((address) => (paid.get(address) ?? 0) <= atMs)
    for (const address of payees) {
      paid.set(address, Math.max(paid.get(address) ?? 0, paidUntilMs(tx)))
    }
    return isOwn ? [{ type: 'signed', atMs, micros, newBeneficiaries: fresh.length }] : []
  })
}

/** A failed call no longer counts as a payment once its failure is known. */
export function paidUntilMs({ status, updated_at }: TransactionView): number {
  const isUndone = status === 'failed' || status === 'dropped'
  return isUndone ? Date.parse(updated_at) : Number.POSITIVE_INFINITY
}

/**
 * Addresses in lower case, each once.
 * @param record the trail's `send.allowed`; its details have those that the simulation showed
 */
export function payeesOf(
  { kind, chain_id, to, value, data }: TransactionView,
  { details }: AuditView,
): readonly Address[] {
  const call = {
    chainId: chain_id,
    to: to.toLowerCase() as Address,
    value: BigInt(value),
    data: data as Hex,
  }
  const shown: unknown = details.shown_payees
  const shownPayees = Array.isArray(shown) ? shown.map((one) => String(one) as Address) : []
  return payeesOfCall({ kind, call, shownPayees })
}
