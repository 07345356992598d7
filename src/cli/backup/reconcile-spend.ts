import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { lockStopped } from '../../custody/home-lock/domain-lock.js'
import { holding } from '../../custody/home-lock/kernel-lock.js'
import type { KeyId, LineageId } from '../../domain/ids.js'
import type { UsdMicros } from '../../domain/money.js'
import { NO_SPEND, rollForward, type SpendCounters } from '../../domain/spend.js'
import { applyRows } from '../../store/apply-rows.js'
import { openEnvironment } from '../../store/environment.js'
import { NO_EVENTS } from '../../store/event-rows.js'
import { drawEntropy } from '../../store/new-id.js'
import { createReader } from '../../store/reader.js'
import { WriteBatch } from '../../store/write-batch.js'
import { UsageError } from '../exit-codes.js'

interface Reconciled {
  readonly lineageId: LineageId
  readonly before: SpendCounters
  readonly after: SpendCounters
}

/**
 * Corrects what a restore counted as used up, once the operator knows what a key and its
 * predecessors have spent. Reservations count in addition. The service must be stopped.
 * @throws UsageError for an unknown key, or less for the month than for the day
 */
export function reconcileSpend(
  home: string,
  keyId: KeyId,
  spent: { readonly dayMicros: UsdMicros; readonly monthMicros: UsdMicros },
): Promise<Reconciled> {
  if (spent.monthMicros < spent.dayMicros) {
    throw new UsageError(
      "today's spend is part of this month's: give at least as much for the month",
    )
  }
  const store = join(home, 'service', 'store')
  if (!existsSync(store)) throw new UsageError(`there is no store in ${home}`)
  return holding(
    () => lockStopped(home, 'service', 'backup reconcile'),
    async () => {
      const environment = openEnvironment(store)
      try {
        const reader = createReader(environment)
        const key = reader.keys.byId(keyId)
        const header = key === undefined ? undefined : reader.wallets.header(key.subWalletId)
        if (key === undefined || header === undefined)
          throw new UsageError(`there is no key ${keyId}`)
        const { lineageId } = key
        const others = header.spend.filter((one) => one.lineageId !== lineageId)
        const stored = header.spend.find((one) => one.lineageId === lineageId)?.counters
        const before = rollForward(stored ?? NO_SPEND, Date.now())
        const { reservedMicros } = before
        const after = {
          ...before,
          dayMicros: spent.dayMicros + reservedMicros,
          monthMicros: spent.monthMicros + reservedMicros,
        }
        const batch = new WriteBatch()
        batch.putSubWalletMarks({
          ...header,
          spend: [...others, { lineageId, counters: after }],
        })
        await applyRows(environment, batch.rows(environment, NO_EVENTS, drawEntropy))
        return { lineageId, before, after }
      } finally {
        await environment.root.close()
      }
    },
  )
}
