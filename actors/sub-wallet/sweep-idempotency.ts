import type { Alarm, Timers } from '../../src/clock/timers.js'
import type { ApiKey } from '../../src/domain/api-key.js'
import { IDEMPOTENCY_KEPT_MS, type IdempotencyRecord } from '../../src/domain/idempotency.js'
import type { KeyId, LineageId } from '../../src/domain/ids.js'
import type { Reader } from '../../src/store/reader.js'
import { subWalletAddress } from '../addresses.js'
import type { Command } from './core/messages.js'

/**
 * Finds Idempotency-Keys that are forgotten and has the wallets that wrote them remove them: a
 * record has one writer, so that none is removed that was just written anew.
 */

/** Rows that one look reads: half a millisecond of its thread. */
const ROWS_AT_ONCE = 500
/** After a look that found nothing to remove, and at the end, from where it starts over. */
export const REST_MS = 5_000
/**
 * After a look that found something: 2,000 rows a second, hence as many new keys, at a five
 * hundredth of the thread. What is expired lies among the rest in no order of time, so that looks
 * follow each other as long as one row in `ROWS_AT_ONCE` is.
 */
const GO_ON_MS = 250

export interface SweepPorts {
  readonly reader: Reader
  readonly tell: (wallet: WalletAddress, command: ForgetCommand) => void
  /** Null while no time can be relied on: then nothing is forgotten. */
  readonly borneOutMs: () => number | null
}

type WalletAddress = ReturnType<typeof subWalletAddress>
type ForgetCommand = Extract<Command, { type: 'forget-idempotency' }>
type Cursor = readonly [lineageId: LineageId, key: string]

interface Look {
  /** Where the next one goes on; null: from the first. */
  readonly next: Cursor | null
  readonly restMs: number
}

/** @returns what ends it */
export function startIdempotencySweep(timers: Timers, ports: SweepPorts): () => void {
  let alarm: Alarm
  function after({ next, restMs }: Look): void {
    alarm = timers.at(timers.now() + restMs, () => after(sweepOnce(ports, next)))
  }
  after({ next: null, restMs: REST_MS })
  return () => alarm.cancel()
}

export function sweepOnce({ reader, tell, borneOutMs }: SweepPorts, from: Cursor | null): Look {
  const nowMs = borneOutMs()
  if (nowMs === null) return { next: from, restMs: REST_MS }
  const expired = new Map<LineageId, string[]>()
  let last: Cursor | null = null
  let seen = 0
  for (const { lineageId, key, record } of reader.fresh().idempotency.after(from, ROWS_AT_ONCE)) {
    seen++
    last = [lineageId, key]
    if (!isForgotten(record, nowMs)) continue
    const keys = expired.get(lineageId) ?? []
    expired.set(lineageId, keys)
    keys.push(key)
  }
  for (const [lineageId, keys] of expired) {
    const owner = keyOf(reader, lineageId)
    if (owner === null) continue
    const command: ForgetCommand = { type: 'forget-idempotency', lineageId, keys }
    tell(subWalletAddress(owner), command)
  }
  if (seen < ROWS_AT_ONCE) return { next: null, restMs: REST_MS }
  return { next: last, restMs: expired.size > 0 ? GO_ON_MS : REST_MS }
}

/**
 * Asked by the wallet itself, at its own time: a key may have been used again since it was looked
 * at, and whoever looked did so by another thread's clock.
 */
export function stillForgotten(
  reader: Reader,
  { lineageId, keys }: ForgetCommand,
  nowMs: number,
): string[] {
  const { idempotency } = reader.fresh()
  return keys.filter((key) => {
    const record = idempotency.byKey(lineageId, key)
    return record !== undefined && isForgotten(record, nowMs)
  })
}

function isForgotten({ createdAtMs }: IdempotencyRecord, nowMs: number): boolean {
  return nowMs >= createdAtMs + IDEMPOTENCY_KEPT_MS
}

/** A lineage is named by its first key. */
function keyOf(reader: Reader, lineageId: LineageId): ApiKey | null {
  return reader.ifSound(() => reader.keys.byId(lineageId as string as KeyId)) ?? null
}
