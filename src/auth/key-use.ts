import { LRUCache } from 'lru-cache'
import type { KeyId } from '../domain/ids.js'

/** `last_used_at` is kept to the minute, so that a request costs no write. */
const MINUTE_MS = 60_000

/**
 * The bound of keys whose last use is in memory. One that drops out is written once more than
 * needed.
 */
const KEYS_MAX = 50_000

export interface KeyUse {
  readonly keyId: KeyId
  /** The start of the minute. */
  readonly atMs: number
}

interface KeyUseRecorder {
  /** Costs a map lookup, and no more for a key already seen in the same minute. */
  saw(keyId: KeyId): void
  /** Returns the last use that this process saw; null when the store is more recent. */
  lastUsedAtMs(keyId: KeyId): number | null
  /** Writes everything pending, and stops the timer. */
  close(): Promise<void>
}

/** @param write makes a batch durable; a refused batch is written with the next one */
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
      // Its position in the cache is renewed once a minute, which is enough.
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
