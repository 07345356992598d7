import type { KeyId, LineageId, SubWalletId } from '../../src/domain/ids.js'
import type { Reader } from '../../src/store/reader.js'
import { IDEMPOTENCY_KEPT_MS } from '../../src/store/records.js'
import type { ActorAddress } from '../runtime/actor.js'
import type { Command } from './messages.js'

/**
 * Finds Idempotency-Keys that are forgotten and has the wallets that wrote them remove them: a
 * record has one writer, so that none is removed that was just written anew.
 */

/** Rows that one look reads: half a millisecond of its thread. */
const ROWS_AT_ONCE = 500
/** Between two looks: 100 requests with a key a second are caught up with. */
const LOOK_EVERY_MS = 5_000

export interface SweepPorts {
  readonly reader: Reader
  readonly tell: (envelope: ActorAddress & { readonly command: ForgetCommand }) => void
  readonly nowMs: () => number
}

type ForgetCommand = Extract<Command, { type: 'forget-idempotency' }>
type Place = readonly [lineageId: LineageId, key: string]

/** @returns what ends it */
export function startIdempotencySweep(ports: SweepPorts): () => void {
  let at: Place | null = null
  const timer = setInterval(() => {
    at = sweepOnce(ports, at)
  }, LOOK_EVERY_MS)
  timer.unref()
  return () => clearInterval(timer)
}

/** @returns where the next look goes on; null at the end, from where it starts over */
export function sweepOnce({ reader, tell, nowMs }: SweepPorts, from: Place | null): Place | null {
  const now = nowMs()
  const expired = new Map<LineageId, string[]>()
  let last: Place | null = null
  let seen = 0
  reader.refresh()
  for (const { lineageId, key, record } of reader.idempotencyAfter(from, ROWS_AT_ONCE)) {
    seen++
    last = [lineageId, key]
    if (now < record.createdAtMs + IDEMPOTENCY_KEPT_MS) continue
    const keys = expired.get(lineageId) ?? []
    expired.set(lineageId, keys)
    keys.push(key)
  }
  for (const [lineageId, keys] of expired) {
    const owner = walletOf(reader, lineageId)
    if (owner === null) continue
    const command: ForgetCommand = { type: 'forget-idempotency', lineageId, keys, nowMs: now }
    tell({ kind: 'sub-wallet', id: owner, command })
  }
  return seen === ROWS_AT_ONCE ? last : null
}

/** A lineage is named by its first key. */
function walletOf(reader: Reader, lineageId: LineageId): SubWalletId | null {
  return reader.apiKey(lineageId as string as KeyId)?.subWalletId ?? null
}
