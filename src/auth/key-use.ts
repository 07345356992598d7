import { LRUCache } from 'lru-cache'
import type { KeyId } from '../domain/ids.js'

/** `last_used_at` is kept to the minute, so that a request costs no write. */
const MINUTE_MS = 60_000

/** Keys whose last use is at hand. One that drops out is written once more than needed. */
const KEYS_MAX = 50_000

export interface KeyUse {
  readonly keyId: KeyId
  /** Start of the minute. */
  readonly atMs: number
}

export interface KeyUseRecorder {
  /** Costs a map lookup, and nothing more for a key seen before in the same minute. */
  saw(keyId: KeyId): void
  /** What was seen by this process; null when the store knows better. */
  lastUsedAtMs(keyId: KeyId): number | null
  /** Writes what is not written yet, and ends the timer. */
  close(): Promise<void>
}

/** @param write makes a batch durable; what it refuses is written with the next batch */
export function createKeyUseRecorder(options: {
  readonly write: (uses: readonly KeyUse[]) => Promise<{ readonly ok: boolean }>
  readonly nowMs: () => number
}): KeyUseRecorder {
  const { write, nowMs } = options
  const lastUse = new LRUCache<KeyId, number>({ max: KEYS_MAX })
  let unwritten = new Set<KeyId>()

  async function flush(): Promise<void> {
    if (unwritten.size === 0) return
    const keys = unwritten
    unwritten = new Set()
    const uses: KeyUse[] = []
    for (const keyId of keys) {
      const atMs = lastUse.peek(keyId)
      if (atMs !== undefined) uses.push({ keyId, atMs })
    }
    const written = await write(uses)
    if (!written.ok) for (const keyId of keys) unwritten.add(keyId)
  }

  const timer = setInterval(() => void flush(), MINUTE_MS)
  timer.unref()
  return {
    saw(keyId) {
      const now = nowMs()
      const minute = now - (now % MINUTE_MS)
      // Its place among the least used is renewed with each minute, which is near enough.
      if (lastUse.peek(keyId) === minute) return
      lastUse.set(keyId, minute)
      unwritten.add(keyId)
    },
    lastUsedAtMs: (keyId) => lastUse.peek(keyId) ?? null,
    async close() {
      clearInterval(timer)
      await flush()
    },
  }
}
