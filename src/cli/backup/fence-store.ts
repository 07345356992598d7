import type { ApiKey } from '../../domain/api-key.js'
import { CHAIN_IDS } from '../../domain/chains.js'
import { type KeyId, type LineageId, type SubWalletId, ulidBytes } from '../../domain/ids.js'
import { lesser } from '../../domain/key-policy-forms.js'
import type { UsdMicros } from '../../domain/money.js'
import { NO_SPEND, rollForward, type SpendCounters, utcDay, utcMonth } from '../../domain/spend.js'
import { GAS_USED_UP_MICROS } from '../../domain/sponsored-gas.js'
import type { SubWalletHeader } from '../../domain/wallet.js'
import { windowsOf } from '../../policy/policy.js'
import { NO_POLICY_LEDGER, type PolicyLedger } from '../../policy/policy-ledger.js'
import { NOTHING_COUNTED } from '../../policy/sliding-buckets.js'
import { applyRows } from '../../store/apply-rows.js'
import { packedRecord } from '../../store/encodings/sealing.js'
import { type Environment, openEnvironment } from '../../store/environment.js'
import { NO_EVENTS } from '../../store/event-rows.js'
import { leaveJournal } from '../../store/journal-position.js'
import { drawEntropy } from '../../store/new-id.js'
import { createReader, type Reader } from '../../store/reader.js'
import { lastSeqKey } from '../../store/readers/events.js'
import { putOf } from '../../store/rows.js'
import { WriteBatch } from '../../store/write-batch.js'
import type { SinceBackup } from './since-backup.js'

/**
 * What a restored store of the service has forgotten must not count as never done. Spec silent: what
 * is unknown counts as used up, because a cap that was spent twice cannot be restored.
 *
 * | forgotten | after the restore |
 * |---|---|
 * | spend | the day's and the month's caps of each key of a wallet used since count as used up |
 * | counts of policies | full until their time is over |
 * | gas that was paid for a wallet | the day's budget is used up |
 * | nonces of the Router | continue after a gap; the accounts' own come from the chain |
 * | places of events | continue after a gap |
 * | revocations and lower caps | as in the identity provider's log, if it survived |
 */
export interface FencedStore {
  /** The number of key lineages whose caps and counts count as used up. */
  readonly usedUp: number
  /** The number of keys that were revoked, or got lower caps, since the backup. */
  readonly takenBack: number
}

/**
 * How many places of the event log are skipped in each partition. All events of an instance at full
 * speed (some 13,000 a second) take two months to fill as many, and the places suffice for 4,000
 * restores: an event's id has 48 bits for its place.
 */
const EVENT_PLACES_LEFT_OUT = 2 ** 36

/** How many nonces of the Router are skipped; it keeps a bitmap in words of 256 nonces. */
const INTENT_NONCES_LEFT_OUT = 2 ** 16

/** A count and a sum above every policy: a million million calls and USD. */
const FULL = { count: 10 ** 12, micros: 10n ** 18n }

/**
 * @param since what the identity provider's log says about the time after the backup; null when
 * nothing is known, so that every key counts as used
 */
export async function fenceStore(
  directory: string,
  since: SinceBackup | null,
  nowMs: number,
): Promise<FencedStore> {
  const environment = openEnvironment(directory)
  try {
    await leaveJournal(environment)
    const reader = createReader(environment)
    await leaveOutPlaces(environment, reader)
    let [usedUp, takenBack] = [0, 0]
    for (const { subWalletId } of reader.wallets.all()) {
      const header = reader.wallets.header(subWalletId)
      if (header === undefined) continue
      const keys = [...reader.keys.ofWallet(subWalletId)]
      const isUsed = since === null || since.usedWallets.has(hexOf(subWalletId))
      const used = isUsed ? lineagesOf(keys) : NONE
      const batch = new WriteBatch()
      for (const key of keys) {
        const less = takenFrom(key, since)
        if (less === null) continue
        batch.putApiKey(less)
        takenBack++
      }
      // Damaged counts are overwritten: they count as full.
      const ledgers = reader.ifSound(() => new Map(reader.keys.policyLedgersOf(subWalletId)))
      for (const [lineageId, ofLineage] of used) {
        const ledger = fullLedger(ofLineage, nowMs)
        const before = ledgers?.get(lineageId) ?? NO_POLICY_LEDGER
        if (ledger !== null) batch.putPolicyLedger(subWalletId, lineageId, ledger, before)
      }
      usedUp += used.size
      if (used.size > 0) batch.putSubWalletMarks(fencedHeader(header, used, nowMs))
      if (batch.empty) continue
      await applyRows(environment, batch.rows(environment, NO_EVENTS, drawEntropy))
    }
    return { usedUp, takenBack }
  } finally {
    await environment.root.close()
  }
}

async function leaveOutPlaces(environment: Environment, reader: Reader): Promise<void> {
  const rows = reader.events
    .lastSeqs()
    .map((seq, partition) =>
      putOf('meta', lastSeqKey(partition), packedRecord(seq + EVENT_PLACES_LEFT_OUT)),
    )
  await applyRows(environment, rows)
}

type Lineages = ReadonlyMap<LineageId, readonly ApiKey[]>
const NONE: Lineages = new Map()

function lineagesOf(keys: readonly ApiKey[]): Lineages {
  const all = new Map<LineageId, ApiKey[]>()
  for (const key of keys) all.set(key.lineageId, [...(all.get(key.lineageId) ?? []), key])
  return all
}

/** @returns the key without what was revoked since; null when nothing was */
function takenFrom(key: ApiKey, since: SinceBackup | null): ApiKey | null {
  const later = since?.grants.get(hexOf(key.keyId))
  if (later === undefined) return null
  const dailyLimitMicros = lesser(key.dailyLimitMicros, later.dailyLimitMicros)
  const monthlyLimitMicros = lesser(key.monthlyLimitMicros, later.monthlyLimitMicros)
  const revokedAtMs = key.revokedAtMs ?? later.revokedAtMs
  const isSame =
    revokedAtMs === key.revokedAtMs &&
    dailyLimitMicros === key.dailyLimitMicros &&
    monthlyLimitMicros === key.monthlyLimitMicros
  return isSame ? null : { ...key, dailyLimitMicros, monthlyLimitMicros, revokedAtMs }
}

function fencedHeader(header: SubWalletHeader, used: Lineages, nowMs: number): SubWalletHeader {
  const before = new Map(header.spend.map(({ lineageId, counters }) => [lineageId, counters]))
  const spend = header.spend.filter(({ lineageId }) => !used.has(lineageId))
  for (const [lineageId, keys] of used) {
    spend.push({ lineageId, counters: usedUp(before.get(lineageId) ?? NO_SPEND, keys, nowMs) })
  }
  const nonces = new Map(
    header.sponsored?.intentNonces.map(({ chainId, next }) => [chainId, next]) ?? [],
  )
  return {
    ...header,
    spend,
    sponsored: {
      intentNonces: CHAIN_IDS.map((chainId) => ({
        chainId,
        next: (nonces.get(chainId) ?? 0) + INTENT_NONCES_LEFT_OUT,
      })),
      gas: { day: utcDay(nowMs), micros: GAS_USED_UP_MICROS },
    },
  }
}

/** Counts reservations as well: an amount that turns out lower makes no room. */
function usedUp(before: SpendCounters, keys: readonly ApiKey[], nowMs: number): SpendCounters {
  const counters = rollForward(before, nowMs)
  const [dayCap, monthCap] = [
    highest(keys, 'dailyLimitMicros'),
    highest(keys, 'monthlyLimitMicros'),
  ]
  const atLeast = (used: UsdMicros, cap: UsdMicros) => {
    const full = cap + counters.reservedMicros
    return used > full ? used : full
  }
  return {
    ...counters,
    dayMicros: atLeast(counters.dayMicros, dayCap),
    monthMicros: atLeast(counters.monthMicros, monthCap),
  }
}

function highest(
  keys: readonly ApiKey[],
  cap: 'dailyLimitMicros' | 'monthlyLimitMicros',
): UsdMicros {
  return keys.reduce((most, key) => ((key[cap] ?? 0n) > most ? (key[cap] ?? 0n) : most), 0n)
}

/** @returns null when no policy of the lineage counts anything */
function fullLedger(keys: readonly ApiKey[], nowMs: number): PolicyLedger | null {
  const policies = keys.flatMap(({ policy }) => (policy === null ? [] : [policy]))
  const windows = [...new Set(policies.flatMap(windowsOf))]
  const ceilings = policies.flatMap((policy) => policy.ceilings)
  if (windows.length + ceilings.length === 0) return null
  const units = new Map(ceilings.map((ceiling) => [`${ceiling.chainId} ${ceiling.token}`, ceiling]))
  return {
    totals: { atMs: nowMs, ...FULL },
    windows: windows.map((perSeconds) => ({
      perSeconds,
      slide: { before: NOTHING_COUNTED, closed: [] },
    })),
    units: [...units.values()].map(({ chainId, token }) => {
      const most = ceilings
        .filter((one) => one.chainId === chainId && one.token === token)
        .reduce((sum, { amount }) => sum + amount, 0n)
      return {
        ...{ chainId, token, day: utcDay(nowMs), month: utcMonth(nowMs) },
        ...{ dayUnits: most, monthUnits: most },
      }
    }),
  }
}

function hexOf(id: KeyId | SubWalletId): string {
  return Buffer.from(ulidBytes(id)).toString('hex')
}
