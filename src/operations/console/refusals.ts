import { isoTime } from '../../domain/iso-time.js'
import type { ConsoleHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'
import { sentenceOf } from './refusal-words.js'

const HOURS_DEFAULT = 24
const HOUR_MS = 3_600_000

/**
 * Entries that one answer counts, which takes some 50 ms. Equal refusals of a key are folded into
 * one entry a minute, so a day of an agent that reaches its cap is 1,440 of them.
 */
const COUNTED_MAX = 5_000

interface Reason {
  count: number
  readonly lastAtMs: number
}

export function listRefusals({
  reader,
  nowMs,
}: Pick<OperationPorts, 'reader' | 'nowMs'>): ConsoleHandlers['list_refusals'] {
  return ({ userId }, { hours = HOURS_DEFAULT, key_id }) => {
    const now = nowMs()
    const sinceMs = now - hours * HOUR_MS
    const reasons = new Map<string, Reason>()
    let countedSinceMs = sinceMs
    let seen = 0
    let total = 0
    // One minute is added because the refusing host's clock may be ahead.
    for (const record of reader.audit.between(userId, sinceMs, now + 60_000)) {
      if (seen++ === COUNTED_MAX) {
        countedSinceMs = record.atMs
        break
      }
      if (record.type !== 'send.refused') continue
      if (key_id !== undefined && record.keyId !== key_id) continue
      const { code, repeated } = record.details
      const count = typeof repeated === 'number' ? repeated : 1
      total += count
      const known = reasons.get(String(code))
      if (known === undefined) reasons.set(String(code), { count, lastAtMs: record.atMs })
      else known.count += count
    }
    const counted = [...reasons].sort(([, a], [, b]) => b.count - a.count)
    return {
      ok: true,
      value: {
        since: isoTime(sinceMs),
        counted_since: isoTime(countedSinceMs),
        total,
        reasons: counted.map(([code, { count, lastAtMs }]) => ({
          ...{ code, message: sentenceOf(code), count, last_at: isoTime(lastAtMs) },
        })),
      },
    }
  }
}
