import type { Alarm, Timers } from '../clock/timers.js'
import type { NewAuditRecord } from '../domain/audit.js'
import type { KeyId } from '../domain/ids.js'
import type { Commits } from './commits.js'
import { WriteBatch } from './write-batch.js'

/** Entries wait this long for more, so that one synced write stores all of them. */
const FLUSH_MS = 250

/**
 * A refusal that equals the one before is counted for this long and written once. Otherwise an
 * agent that reaches its cap all day would fill the disk.
 */
const REPEAT_MS = 60_000

/** The most kinds of refusal counted at once; beyond it the oldest are written early. */
const REPEATS_MAX = 10_000

/** Each screening verdict is a separate entry, because each names another call. */
const NEVER_FOLDED: ReadonlySet<unknown> = new Set(['ADDRESS_BLOCKED', 'CALLDATA_UNDECODABLE'])

interface AuditLogOptions {
  readonly commits: Commits
  readonly timers: Pick<Timers, 'now' | 'at'>
  readonly log: { error(context: object, message: string): void }
}

interface Repeat {
  readonly sinceMs: number
  /** Equal entries after the first. */
  count: number
  last: NewAuditRecord | null
}

/**
 * Collects audit entries that belong to no commit, such as refusals. It folds repeated ones and
 * writes them together, per thread. A crash loses the entries of the last FLUSH_MS and the counts
 * of the last REPEAT_MS, but nothing about a signed call.
 */
export class AuditLog {
  readonly #options: AuditLogOptions
  readonly #repeats = new Map<string, Repeat>()
  #fresh: NewAuditRecord[] = []
  #sweeper: Alarm
  #flushing: Alarm | null = null
  #lastWrite: Promise<void> = Promise.resolve()

  constructor(options: AuditLogOptions) {
    this.#options = options
    this.#sweeper = this.#in(REPEAT_MS, () => this.#sweepAgain())
  }

  note(record: NewAuditRecord): void {
    const { type, keyId, details } = record
    if (type !== 'send.refused' || NEVER_FOLDED.has(details.code)) {
      this.#push(record)
      return
    }
    const kind = `${keyId}|${String(details.code)}`
    const repeat = this.#repeats.get(kind)
    const now = this.#options.timers.now()
    if (repeat !== undefined && now < repeat.sinceMs + REPEAT_MS) {
      repeat.count++
      repeat.last = record
      return
    }
    this.#settle(kind)
    this.#push(record)
    this.#repeats.set(kind, { sinceMs: now, count: 0, last: null })
    if (this.#repeats.size <= REPEATS_MAX) return
    for (const oldest of this.#repeats.keys()) {
      this.#settle(oldest)
      break
    }
  }

  /**
   * Writes a key's repeated refusals after the entries under way have been noted. Used when they
   * led to a freeze.
   */
  settleSoon(keyId: KeyId): void {
    this.#in(FLUSH_MS, () => this.#settleKey(keyId))
  }

  /** Writes everything, including counts. Call it before the store is closed. */
  async close(): Promise<void> {
    this.#sweeper.cancel()
    this.#sweep(Number.POSITIVE_INFINITY)
    this.#flush()
    await this.#lastWrite
  }

  #push(record: NewAuditRecord): void {
    this.#fresh.push(record)
    this.#flushing ??= this.#in(FLUSH_MS, () => this.#flush())
  }

  #in(delayMs: number, task: () => void): Alarm {
    const { timers } = this.#options
    return timers.at(timers.now() + delayMs, task)
  }

  #sweepAgain(): void {
    this.#sweep(this.#options.timers.now() - REPEAT_MS)
    this.#sweeper = this.#in(REPEAT_MS, () => this.#sweepAgain())
  }

  /** The map is ordered by `sinceMs`, because entries are inserted in that order. */
  #sweep(beforeMs: number): void {
    for (const [kind, { sinceMs }] of this.#repeats) {
      if (sinceMs > beforeMs) return
      this.#settle(kind)
    }
  }

  #settleKey(keyId: KeyId): void {
    for (const kind of this.#repeats.keys()) if (kind.startsWith(`${keyId}|`)) this.#settle(kind)
  }

  #settle(kind: string): void {
    const repeat = this.#repeats.get(kind)
    this.#repeats.delete(kind)
    if (repeat === undefined || repeat.last === null) return
    const { last, count } = repeat
    this.#push({ ...last, details: { ...last.details, repeated: count } })
  }

  #flush(): void {
    this.#flushing?.cancel()
    this.#flushing = null
    if (this.#fresh.length === 0) return
    const batch = new WriteBatch()
    for (const record of this.#fresh) batch.appendAudit(record)
    this.#fresh = []
    const { commits, log } = this.#options
    this.#lastWrite = commits.commit(batch).then(
      () => undefined,
      (error: unknown) => log.error({ err: error }, 'audit entries could not be written'),
    )
  }
}
