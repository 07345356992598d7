import { keyStatus } from '../../domain/api-key.js'
import type { UsdMicros } from '../../domain/money.js'
import { rollForward } from '../../domain/spend.js'
import type { SpentLine } from './account-spend.js'

/**
 * Ranks key lineages by how near they are to a cap: first by the share used of their nearest cap,
 * then by today's spend, then the newer one first. Spec silent: without a cap, nothing of one is
 * used.
 */

/** The rank of a lineage. */
interface Rank {
  /** Millionths of the nearest cap. */
  readonly share: number
  readonly dayMicros: UsdMicros
  readonly keyId: string
}

interface RankedLine extends Rank {
  readonly line: SpentLine
}

/** After a cap was lowered, a multiple of it may have been spent. */
const SHARE_MAX = 999_999_999

/** Lineages whose newest key is in force. */
export function rankedLines(lines: readonly SpentLine[], nowMs: number): RankedLine[] {
  const ranked: RankedLine[] = []
  for (const line of lines) {
    if (keyStatus(line.key, nowMs) === 'revoked') continue
    const { dayMicros, monthMicros } = rollForward(line.counters, nowMs)
    const { dailyLimitMicros, monthlyLimitMicros, keyId } = line.key
    const share = Math.max(
      shareOf(dayMicros, dailyLimitMicros),
      shareOf(monthMicros, monthlyLimitMicros),
    )
    ranked.push({ line, share, dayMicros, keyId })
  }
  return ranked.sort(compareRanks)
}

function shareOf(usedMicros: UsdMicros, capMicros: UsdMicros | null): number {
  if (capMicros === null || usedMicros === 0n) return 0
  if (capMicros === 0n) return SHARE_MAX
  return Math.min(Number((usedMicros * 1_000_000n) / capMicros), SHARE_MAX)
}

function compareRanks(a: Rank, b: Rank): number {
  if (a.share !== b.share) return b.share - a.share
  if (a.dayMicros !== b.dayMicros) return a.dayMicros > b.dayMicros ? -1 : 1
  if (a.keyId === b.keyId) return 0
  return a.keyId > b.keyId ? -1 : 1
}

const CURSOR = /^(\d{1,9})_(\d{1,40})_(key_\w{1,60})$/

/** Marks the lineages after this rank as of when it is used; a lineage may have moved past it. */
function cursorOf({ share, dayMicros, keyId }: Rank): string {
  return `${share}_${dayMicros}_${keyId}`
}

/** Null if it is not a cursor of this order. */
function rankAt(cursor: string): Rank | null {
  const [, share = '', dayMicros = '', keyId = ''] = CURSOR.exec(cursor) ?? []
  return keyId === '' ? null : { share: Number(share), dayMicros: BigInt(dayMicros), keyId }
}

/** @returns null for a cursor of another order */
export function pageRanked(
  ranked: readonly RankedLine[],
  { limit, cursor }: { readonly limit: number; readonly cursor: string | null },
): { readonly lines: readonly SpentLine[]; readonly nextCursor: string | null } | null {
  const after = cursor === null ? null : rankAt(cursor)
  if (cursor !== null && after === null) return null
  const from = after === null ? 0 : ranked.findIndex((one) => compareRanks(one, after) > 0)
  if (from === -1) return { lines: [], nextCursor: null }
  const page = ranked.slice(from, from + limit)
  const last = page.at(-1)
  const isEnd = last === undefined || from + limit >= ranked.length
  return { lines: page.map(({ line }) => line), nextCursor: isEnd ? null : cursorOf(last) }
}
