import type { TransactionView } from '../api/transaction.js'
import { userBreaker } from '../api/user-breakers.js'
import type { Address, SubWalletId } from '../domain/ids.js'
import { parseUsd } from '../domain/money.js'
import { COUNTED_REFUSALS } from '../policy/breakers.js'
import { replayUserBreakers, type UserLogEntry, type Watched } from '../policy/user-breakers.js'
import { userBreakerOf } from '../policy/user-breakers-json.js'
import { type AuditView, explained, paidUntilMs, payeesOf, type Replayed } from './breaker-log.js'

/** Recomputes from the owner's records when the user's breakers had to trip. */

interface UserBreakerLog {
  readonly records: readonly AuditView[]
  /** The transactions of all sub-wallets. */
  readonly transactions: readonly TransactionView[]
}

/** @returns the trips, and the user's breaker freezes that no trip explains */
export function replayUserLog(log: UserBreakerLog): Replayed {
  const frozen = log.records.filter(
    ({ type, details }) => type === 'user.frozen' && details.by === 'breaker',
  )
  return explained(replayUserBreakers(userLogOf(log)), frozen)
}

/** Returns settings and events by time. */
export function userLogOf({ records, transactions }: UserBreakerLog): UserLogEntry[] {
  const byId = new Map(transactions.map((tx) => [tx.tx_id, tx]))
  const paid = new Map<string, Map<Address, number>>()
  // The trail is newest first; entries of the same moment keep their order.
  const inOrder = [...records].reverse().sort((a, b) => Date.parse(a.at) - Date.parse(b.at))
  return inOrder.flatMap((record): UserLogEntry[] => {
    const atMs = Date.parse(record.at)
    const { code, repeated, reserved_usd, breakers } = record.details
    if (record.type === 'breakers.set') {
      return [{ type: 'set', breakers: userBreaker.array().parse(breakers).map(userBreakerOf) }]
    }
    if (record.type === 'send.refused') {
      if (typeof code !== 'string' || !COUNTED_REFUSALS.has(code)) return []
      const times = typeof repeated === 'number' ? repeated : 1
      return Array.from({ length: times }, (): Watched => ({ type: 'refused', atMs }))
    }
    const tx = byId.get(record.tx_id ?? '')
    if (record.type !== 'send.allowed' || tx === undefined) return []
    const subWalletId = record.sub_wallet_id as SubWalletId
    const known = paid.get(subWalletId) ?? new Map<Address, number>()
    paid.set(subWalletId, known)
    const payees = payeesOf(tx, record)
    const newPayees = payees.filter((one) => (known.get(one) ?? 0) <= atMs)
    for (const one of payees) known.set(one, Math.max(known.get(one) ?? 0, paidUntilMs(tx)))
    const micros = typeof reserved_usd === 'string' ? (parseUsd(reserved_usd) ?? 0n) : 0n
    return [{ type: 'signed', atMs, micros, subWalletId, newPayees }]
  })
}
