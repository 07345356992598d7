import type { z } from 'zod'
import type { auditPage } from '../api/console-records.js'
import type { TransactionView } from '../api/transaction.js'
import type { Address } from '../domain/ids.js'
import { parseUsd } from '../domain/money.js'
import { COUNTED_REFUSALS, replayBreakers, type Trip, type Watched } from '../policy/breakers.js'
import { showCall } from '../policy/call-shown.js'
import type { Breaker } from '../policy/policy.js'

/** Works out again, from what the owner can read, when a key's breakers had to trip. */

export type AuditView = z.infer<typeof auditPage>['records'][number]

export interface BreakerLog {
  readonly breakers: readonly Breaker[]
  /** The key, those that it succeeded and those that succeed it. */
  readonly keyIds: ReadonlySet<string>
  /** Those that they made, and so on down: what these do counts for the key as well. */
  readonly idsBelow: ReadonlySet<string>
  readonly records: readonly AuditView[]
  /** Of the sub-wallet, whatever the key. */
  readonly transactions: readonly TransactionView[]
}

export interface ReplayedTrip extends Pick<Trip, 'atMs' | 'reason'> {
  /** When the key or the user was frozen by it; null where the trail has no such freeze. */
  readonly frozenAtMs: number | null
}

/**
 * The trail dates a refusal when it is written down, and one that repeats within a minute by the
 * last of its kind; a signed call by its own record.
 */
const APART_MS_MAX = 5_000

export interface Replayed {
  readonly trips: readonly ReplayedTrip[]
  readonly unexplained: readonly AuditView[]
}

/** @returns the trips, and freezes by breakers that none of them explains */
export function replayLog(log: BreakerLog): Replayed {
  const frozen = log.records.filter(
    ({ type, key_id, details }) =>
      type === 'key.frozen' && log.keyIds.has(key_id ?? '') && details.by === 'breaker',
  )
  return explained(replayBreakers(log.breakers, watchedOf(log)), frozen)
}

/** Finds to each trip the freeze that it led to. */
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
  /** Null of a refusal. */
  readonly tx: TransactionView | null
  readonly micros: bigint
  /** Of the key's line, or below it; what others of the sub-wallet pay is known to it as well. */
  readonly isOwn: boolean
}

/** @returns what the key's breakers looked at, by time */
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
        return Array.from({ length: times }, () => ({ atMs, tx: null, micros: 0n, isOwn: true }))
      }
      const tx = byId.get(record.tx_id ?? '')
      if (record.type !== 'send.allowed' || tx === undefined) return []
      const micros = typeof reserved_usd === 'string' ? parseUsd(reserved_usd) : null
      return [{ atMs, tx, micros: micros ?? 0n, isOwn: isOfLine(record.key_id) }]
    })
    .sort((a, b) => a.atMs - b.atMs)
  const paid = new Map<string, number>()
  return all.flatMap(({ atMs, tx, micros, isOwn }): Watched[] => {
    if (tx === null) return [{ type: 'refused', atMs }]
    const fresh = new Set(payeesOf(tx).filter((address) => (paid.get(address) ?? 0) <= atMs))
    for (const address of payeesOf(tx)) {
      paid.set(address, Math.max(paid.get(address) ?? 0, paidUntilMs(tx)))
    }
    return isOwn ? [{ type: 'signed', atMs, micros, newBeneficiaries: fresh.size }] : []
  })
}

/** What failed has paid nobody once that is known. */
export function paidUntilMs({ status, updated_at }: TransactionView): number {
  const isUndone = status === 'failed' || status === 'dropped'
  return isUndone ? Date.parse(updated_at) : Number.POSITIVE_INFINITY
}

/** Lower-case. */
export function payeesOf({ kind, chain_id, to, value, data }: TransactionView): readonly Address[] {
  if (kind !== 'send') return []
  const call = {
    chainId: chain_id,
    to: to.toLowerCase() as `0x${string}`,
    value: BigInt(value),
    data: data as `0x${string}`,
  }
  return showCall({ operation: kind, ...call }).beneficiaries ?? []
}
