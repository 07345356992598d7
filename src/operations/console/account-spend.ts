import { LRUCache } from 'lru-cache'
import type { ApiKey } from '../../domain/api-key.js'
import type { LineageId, SubWalletId, UserId } from '../../domain/ids.js'
import { NO_SPEND, type SpendCounters } from '../../domain/spend.js'
import type { SpentDay } from '../../domain/spent-days.js'
import type { Reader } from '../../store/reader.js'
import type { OperationPorts } from '../ports.js'

/**
 * What all keys of an account have spent, at hand: a wallet is read again once its version says that
 * something of it was written, so that totals of ten thousand keys take no look at ten thousand
 * records. The first look does, in slices.
 */
export interface AccountSpend {
  of(user: UserId): Promise<AllSpent>
}

export interface AllSpent {
  readonly lines: readonly SpentLine[]
  /** Micro-dollars by UTC day, of days that the counters have left, of lines that no key made. */
  readonly pastDays: ReadonlyMap<number, bigint>
  /** Wallets that are in none of this, since their records are damaged. */
  readonly unread: number
}

/** What a line of rotations has spent, and its newest key. */
export interface SpentLine {
  readonly key: SpendingKey
  readonly counters: SpendCounters
  /** Of days that the counters have left. */
  readonly days: readonly SpentDay[]
}

/** Of a key what is shown beside its spend: its policy would take more than all of the rest. */
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

/** Between slices others have their turn: each takes some ten milliseconds. */
const WALLETS_PER_SLICE = 250
const KEYS_PER_SLICE = 1_000

/**
 * What is held of all accounts, in units of some 250 bytes: a line is one, and each four of its days.
 * Two accounts of ten thousand keys that spend every day fit. What does not fit is read each time.
 */
const HELD_UNITS_MAX = 200_000
const DAYS_PER_UNIT = 4

type KeyPage = ReturnType<Reader['keys']['ofUser']>

interface HeldWallet {
  /** From before it was read. */
  readonly version: number
  /** Null: its records are damaged. */
  readonly lines: readonly SpentLine[] | null
}

interface HeldAccount {
  /** Of the user, from before its wallets were listed; null: they were not. */
  version: number | null
  ids: readonly SubWalletId[]
  readonly wallets: Map<SubWalletId, HeldWallet>
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
  /** The last read of each account: the next one begins when it is over. */
  const last = new Map<UserId, Promise<AllSpent>>()

  async function read(user: UserId): Promise<AllSpent> {
    const account = held.get(user) ?? {
      ...{ version: null, ids: [], wallets: new Map(), pastDays: new Map() },
    }
    const version = reader.wallets.versionOf(user)
    if (account.version !== version) {
      account.ids = reader.fresh().wallets.idsOfUser(user)
      account.version = version
    }
    const stale = account.ids
      .map((id) => ({ id, version: reader.wallets.versionOf(id) }))
      .filter((one) => account.wallets.get(one.id)?.version !== one.version)
    reader.fresh()
    // To go through a range for each wallet takes thrice as long as one range for all.
    const keys = stale.length > WALLETS_PER_SLICE ? await newestKeys(user) : null
    for (const [at, { id, version }] of stale.entries()) {
      if (at > 0 && at % WALLETS_PER_SLICE === 0) await turn()
      const before = account.wallets.get(id)?.lines ?? []
      const ofWallet = () =>
        linesOf(reader, id, keys?.get(id) ?? newestOf(reader.keys.ofWallet(id)))
      const lines = reader.ifSound(ofWallet) ?? null
      account.wallets.set(id, { version, lines })
      addDays(account.pastDays, before, -1n)
      addDays(account.pastDays, lines ?? [], 1n)
    }
    // As another object: its size is that of when it was put.
    if (stale.length > 0) held.set(user, { ...account })
    return shownOf(account)
  }

  /** By wallet; none where a record is damaged: each wallet is then read by itself. */
  async function newestKeys(user: UserId): Promise<ReadonlyMap<SubWalletId, NewestKeys>> {
    const byWallet = new Map<SubWalletId, Map<LineageId, ApiKey>>()
    const pageAt = (after: string | null) => () =>
      reader.keys.ofUser(user, { limit: KEYS_PER_SLICE, cursor: after })
    let cursor: string | null = null
    do {
      const page: KeyPage | undefined = reader.ifSound(pageAt(cursor))
      if (page === undefined) return new Map()
      for (const key of page.items) {
        const ofWallet = byWallet.get(key.subWalletId) ?? new Map<LineageId, ApiKey>()
        if (!ofWallet.has(key.lineageId)) ofWallet.set(key.lineageId, key)
        byWallet.set(key.subWalletId, ofWallet)
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
    of(user) {
      const before = last.get(user)
      // Not the same one: what its caller was told of since may be in a wallet that it has passed.
      const reading = before === undefined ? read(user) : before.then(again, again)
      last.set(user, reading)
      const isOver = () => {
        if (last.get(user) === reading) last.delete(user)
      }
      reading.then(isOver, isOver)
      return reading

      function again(): Promise<AllSpent> {
        return read(user)
      }
    },
  }
}

function shownOf({ ids, wallets, pastDays }: HeldAccount): AllSpent {
  const lines: SpentLine[] = []
  let unread = 0
  for (const id of ids) {
    const wallet = wallets.get(id)
    if (wallet?.lines == null) unread++
    else for (const line of wallet.lines) lines.push(line)
  }
  return { lines, pastDays, unread }
}

/** What the keys spend that a key has made counts on it as well. */
export function isCountedAbove({ key }: SpentLine): boolean {
  return key.parentLineageId !== undefined
}

function addDays(sums: Map<number, bigint>, lines: readonly SpentLine[], sign: bigint): void {
  for (const line of lines) {
    if (isCountedAbove(line)) continue
    for (const { day, micros } of line.days) {
      const sum = (sums.get(day) ?? 0n) + sign * micros
      if (sum === 0n) sums.delete(day)
      else sums.set(day, sum)
    }
  }
}

/** The newest key of each line of rotations. */
type NewestKeys = ReadonlyMap<LineageId, ApiKey>

/** @param keys newest first */
function newestOf(keys: Iterable<ApiKey>): NewestKeys {
  const newest = new Map<LineageId, ApiKey>()
  for (const key of keys) if (!newest.has(key.lineageId)) newest.set(key.lineageId, key)
  return newest
}

function linesOf(reader: Reader, id: SubWalletId, keys: NewestKeys): readonly SpentLine[] {
  const counters = new Map<LineageId, SpendCounters>()
  for (const one of reader.wallets.spendOf(id)) counters.set(one.lineageId, one.counters)
  return [...keys].map(([lineageId, key]) => ({
    key: spendingKey(key),
    counters: counters.get(lineageId) ?? NO_SPEND,
    days: reader.spentDays.of(id, lineageId),
  }))
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

function unitsOf({ wallets }: HeldAccount): number {
  let units = 1
  for (const { lines } of wallets.values()) {
    for (const { days } of lines ?? []) units += 1 + days.length / DAYS_PER_UNIT
  }
  return Math.ceil(units)
}
