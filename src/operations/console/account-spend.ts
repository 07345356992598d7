import { LRUCache } from 'lru-cache'
import type { ApiKey } from '../../domain/api-key.js'
import type { LineageId, SubWalletId, UserId } from '../../domain/ids.js'
import { NO_SPEND, type SpendCounters } from '../../domain/spend.js'
import type { SpentDay } from '../../domain/spent-days.js'
import type { Reader } from '../../store/reader.js'
import type { OperationPorts } from '../ports.js'

/**
 * Caches what all keys of an account have spent. A wallet is read again only once its version tells
 * that something of it was written, so totals over ten thousand keys do not read ten thousand
 * records. The first read does, in slices.
 */
export interface AccountSpend {
  of(user: UserId): Promise<AllSpent>
  /** Includes spend by day; its first read takes twice as long. */
  byDay(user: UserId): Promise<SpentByDay>
}

interface AllSpent {
  readonly lines: readonly SpentLine[]
  /** Wallets that are missing here because their records are damaged. */
  readonly unread: number
}

interface SpentByDay extends AllSpent {
  /** Micro-dollars by UTC day, for days before the counters', of lineages that no key made. */
  readonly pastDays: ReadonlyMap<number, bigint>
}

/** The spend of a key lineage, and its newest key. */
export interface SpentLine {
  readonly key: SpendingKey
  readonly counters: SpendCounters
}

/**
 * The fields of a key that are shown beside its spend; its policy would take more memory than all
 * the others.
 */
export type SpendingKey = Pick<
  ApiKey,
  | 'keyId'
  | 'lineageId'
  | 'parentLineageId'
  | 'subWalletId'
  | 'name'
  | 'dailyLimitMicros'
  | 'monthlyLimitMicros'
  | 'endsAtMs'
  | 'rotatedAtMs'
  | 'revokedAtMs'
>

/** Other work runs between slices, each of which takes some ten milliseconds. */
const WALLETS_PER_SLICE = 250
const KEYS_PER_SLICE = 500

const FEW_LINES = 8

/**
 * Bound of the cache over all accounts, in units of some 250 bytes: a lineage is one unit, and so
 * are four of its days. Two accounts of ten thousand keys that spend every day fit. What does not
 * fit is read each time.
 */
const HELD_UNITS_MAX = 200_000
const DAYS_PER_UNIT = 4

type KeyPage = ReturnType<Reader['keys']['ofUser']>

/** Null if its records are damaged. */
interface Held<T> {
  /** The version from before it was read. */
  readonly version: number
  readonly value: T | null
}

interface HeldAccount {
  /** The user's version from before its wallets were listed; null before that. */
  version: number | null
  ids: readonly SubWalletId[]
  readonly lines: Map<SubWalletId, Held<readonly SpentLine[]>>
  /** Days of the wallets for which they were requested. */
  readonly days: Map<SubWalletId, Held<readonly SpentDay[]>>
  /** The sum of those days. */
  readonly pastDays: Map<number, bigint>
}

export function createAccountSpend({
  reader,
  timers,
}: Pick<OperationPorts, 'reader' | 'timers'>): AccountSpend {
  const held = new LRUCache<UserId, HeldAccount>({
    maxSize: HELD_UNITS_MAX,
    sizeCalculation: unitsOf,
  })
  /** The last read of each account; the next one begins when it is over. */
  const last = new Map<UserId, Promise<unknown>>()

  async function readLines(user: UserId): Promise<HeldAccount> {
    const account = held.get(user) ?? {
      ...{ version: null, ids: [], lines: new Map(), days: new Map(), pastDays: new Map() },
    }
    const version = reader.wallets.versionOf(user)
    if (account.version !== version) {
      account.ids = reader.fresh().wallets.idsOfUser(user)
      account.version = version
    }
    const stale = account.ids
      .map((id) => ({ id, version: reader.wallets.versionOf(id) }))
      .filter((one) => account.lines.get(one.id)?.version !== one.version)
    reader.fresh()
    // One range per wallet takes three times as long as one range for all.
    const keys = stale.length > WALLETS_PER_SLICE ? await newestKeys(user) : null
    for (const [at, { id, version }] of stale.entries()) {
      if (at > 0 && at % WALLETS_PER_SLICE === 0) await turn()
      const value = reader.ifSound(() =>
        linesOf(reader, id, keys?.get(id) ?? newestOf(reader.keys.ofWallet(id))),
      )
      account.lines.set(id, { version, value: value ?? null })
    }
    // A new object, because the cache measures its size when it is put.
    if (stale.length > 0) held.set(user, { ...account })
    return account
  }

  async function readDays(user: UserId): Promise<SpentByDay> {
    const account = await readLines(user)
    let scanned = 0
    for (const [id, { version, value: lines }] of account.lines) {
      const before = account.days.get(id)
      if (before?.version === version) continue
      if (scanned++ > 0 && scanned % WALLETS_PER_SLICE === 0) await turn()
      // Read after the lineages: a change in between has raised the version and is read once more.
      const days = reader.ifSound(() => daysOf(reader, id, lines ?? []))
      account.days.set(id, { version, value: days ?? null })
      addDays(account.pastDays, before?.value ?? [], -1n)
      addDays(account.pastDays, days ?? [], 1n)
    }
    if (scanned > 0) held.set(user, { ...account })
    return { ...shownOf(account, true), pastDays: new Map(account.pastDays) }
  }

  /**
   * One after another: a change that the caller knows of may be in a wallet that a running read has
   * passed.
   */
  function queued<T>(user: UserId, read: (user: UserId) => Promise<T>): Promise<T> {
    const again = () => read(user)
    const before = last.get(user)
    const reading = before === undefined ? read(user) : before.then(again, again)
    last.set(user, reading)
    const isOver = () => {
      if (last.get(user) === reading) last.delete(user)
    }
    reading.then(isOver, isOver)
    return reading
  }

  /** Keys by wallet; empty if a record is damaged, and then each wallet is read separately. */
  async function newestKeys(user: UserId): Promise<ReadonlyMap<SubWalletId, NewestKeys>> {
    const byWallet = new Map<SubWalletId, SpendingKey[]>()
    const seen = new Set<LineageId>()
    const pageAt = (after: string | null) => () =>
      reader.keys.ofUser(user, { limit: KEYS_PER_SLICE, cursor: after })
    let cursor: string | null = null
    do {
      const page: KeyPage | undefined = reader.ifSound(pageAt(cursor))
      if (page === undefined) return new Map()
      // Not the records: thousands that stay alive cost more to collect than to read.
      for (const key of newestOf(page.items, seen)) {
        const ofWallet = byWallet.get(key.subWalletId)
        if (ofWallet === undefined) byWallet.set(key.subWalletId, [key])
        else ofWallet.push(key)
      }
      cursor = page.nextCursor
      await turn()
    } while (cursor !== null)
    return byWallet
  }

  async function turn(): Promise<void> {
    await new Promise<void>((resolve) => timers.soon(resolve))
    reader.fresh()
  }

  return {
    of: (user) => queued(user, async (of) => shownOf(await readLines(of), false)),
    byDay: (user) => queued(user, readDays),
  }
}

function shownOf({ ids, lines, days }: HeldAccount, isByDay: boolean): AllSpent {
  const all: SpentLine[] = []
  let unread = 0
  for (const id of ids) {
    const ofWallet = lines.get(id)?.value ?? null
    if (ofWallet === null || (isByDay && days.get(id)?.value == null)) unread++
    for (const line of ofWallet ?? []) all.push(line)
  }
  return { lines: all, unread }
}

/** What keys made by a key spend also counts towards that key. */
export function isCountedAbove({ key }: SpentLine): boolean {
  return key.parentLineageId !== undefined
}

/** Days of the lineages that no key made. */
function daysOf(reader: Reader, id: SubWalletId, lines: readonly SpentLine[]): readonly SpentDay[] {
  return lines.flatMap((line) =>
    isCountedAbove(line) ? [] : reader.spentDays.of(id, line.key.lineageId),
  )
}

function addDays(sums: Map<number, bigint>, days: readonly SpentDay[], sign: bigint): void {
  for (const { day, micros } of days) {
    const sum = (sums.get(day) ?? 0n) + sign * micros
    if (sum === 0n) sums.delete(day)
    else sums.set(day, sum)
  }
}

/** The newest key of each lineage. */
type NewestKeys = readonly SpendingKey[]

/** @param keys newest first @param seen lineages whose newest key came before */
function newestOf(keys: Iterable<ApiKey>, seen = new Set<LineageId>()): NewestKeys {
  const newest: SpendingKey[] = []
  for (const key of keys) {
    if (seen.has(key.lineageId)) continue
    seen.add(key.lineageId)
    newest.push(spendingKey(key))
  }
  return newest
}

function linesOf(reader: Reader, id: SubWalletId, keys: NewestKeys): readonly SpentLine[] {
  const spend = reader.wallets.spendOf(id)
  // Most wallets have few keys; a map for each would be ten thousand maps.
  const byLineage =
    spend.length <= FEW_LINES ? null : new Map(spend.map((one) => [one.lineageId, one.counters]))
  const countersOf = (lineage: LineageId) =>
    byLineage === null
      ? spend.find(({ lineageId }) => lineageId === lineage)?.counters
      : byLineage.get(lineage)
  return keys.map((key) => ({ key, counters: countersOf(key.lineageId) ?? NO_SPEND }))
}

function spendingKey(key: ApiKey): SpendingKey {
  const { parentLineageId, endsAtMs } = key
  return {
    keyId: key.keyId,
    lineageId: key.lineageId,
    ...(parentLineageId === undefined ? {} : { parentLineageId }),
    subWalletId: key.subWalletId,
    name: key.name,
    dailyLimitMicros: key.dailyLimitMicros,
    monthlyLimitMicros: key.monthlyLimitMicros,
    ...(endsAtMs === undefined ? {} : { endsAtMs }),
    rotatedAtMs: key.rotatedAtMs,
    revokedAtMs: key.revokedAtMs,
  }
}

function unitsOf({ lines, days }: HeldAccount): number {
  let units = 1
  for (const { value } of lines.values()) units += value?.length ?? 0
  for (const { value } of days.values()) units += (value?.length ?? 0) / DAYS_PER_UNIT
  return Math.ceil(units)
}
