import type { Alarm, Timers } from '../../src/clock/timers.js'
import type { ApiKey } from '../../src/domain/api-key.js'
import { IDEMPOTENCY_KEPT_MS, type IdempotencyRecord } from '../../src/domain/idempotency.js'
import type { KeyId, LineageId } from '../../src/domain/ids.js'
import type { Reader } from '../../src/store/reader.js'
import { subWalletAddress } from '../addresses.js'
import type { Command } from './core/messages.js'

/**
 * Finds expired Idempotency-Keys and tells the wallets that wrote them to remove them. Only the
 * writer removes a record, so that a key that was just written again is kept.
 */

/** The rows that one poll reads: half a millisecond of its thread. */
const ROWS_AT_ONCE = 500
/**
 * The pause after a poll that found nothing to remove, and after the last row, from where it starts
 * over.
 */
export const REST_MS = 5_000
/**
 * The pause after a poll that found something: 2,000 rows a second, which keeps up with as many new
 * keys and uses 0.2 % of the thread. Expired rows lie among the others in no order of time, so
 * polls follow each other while one row in `ROWS_AT_ONCE` has expired.
 */
const GO_ON_MS = 250

interface SweepPorts {
  readonly reader: Reader
  readonly tell: (wallet: WalletAddress, command: ForgetCommand) => void
  /** Null while the clock is not verified: then no key is removed. */
  readonly verifiedNowMs: () => number | null
}

type WalletAddress = ReturnType<typeof subWalletAddress>
type ForgetCommand = Extract<Command, { type: 'forget-idempotency' }>
type Cursor = readonly [lineageId: LineageId, key: string]

interface Sweep {
  /** The row after which the next poll continues; null to start over. */
  readonly next: Cursor | null
  readonly restMs: number
}

/** @returns a function that stops the sweep */
export function startIdempotencySweep(timers: Timers, ports: SweepPorts): () => void {
  let alarm: Alarm
  function after({ next, restMs }: Sweep): void {
    alarm = timers.at(timers.now() + restMs, () => after(sweepOnce(ports, next)))
  }
  after({ next: null, restMs: REST_MS })
  return () => alarm.cancel()
}

export function sweepOnce({ reader, tell, verifiedNowMs }: SweepPorts, from: Cursor | null): Sweep {
  const nowMs = verifiedNowMs()
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
 * Checks the keys again in the wallet, by its own clock: a key may have been used again since the
 * sweep read it, and the sweep runs with the clock of another thread.
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

/** Returns the first key of the lineage, which gives the lineage its id. */
function keyOf(reader: Reader, lineageId: LineageId): ApiKey | null {
  return reader.ifSound(() => reader.keys.byId(lineageId as string as KeyId)) ?? null
}
