import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { Piscina } from 'piscina'
import type { QueueReading } from '../domain/meter.js'
import { hasBit } from '../quorum-protocol/batch.js'
import { isSignedBy } from '../quorum-protocol/curve.js'
import { FULL_BATCHES_IN_FLIGHT_MAX } from '../quorum-protocol/limits.js'

/**
 * The quorum signer is not believed: a signature counts when the wallet's own key made it. To check
 * that is half of what a signature costs the service, so batches are checked in a thread of their
 * own while this one prepares others. Nothing that is checked is secret.
 */
export interface SignatureChecks {
  /** One answer for each, in order. Never rejects: what the thread cannot do is done here. */
  check(checks: readonly SignatureCheck[]): Promise<readonly boolean[]>
  /** Batches that are with the thread; `dropped` are those that were checked here since it failed. */
  read(): QueueReading
  close(): Promise<void>
}

export interface SignatureCheck {
  /** 33 bytes, compressed. */
  readonly point: Uint8Array
  /** 32 bytes. */
  readonly digest: Uint8Array
  /** r ‖ s ‖ yParity; false when it has not 65 bytes. */
  readonly signature: Uint8Array
}

/** Where the fields of one check start, in a row of them. */
export const CHECK_AT = { point: 0, digest: 33, signature: 65 } as const
export const CHECK_BYTES = CHECK_AT.signature + 65

/** With one core there would be nobody to hand over to. */
const CORES = availableParallelism()
/** To hand over fewer takes longer than to check them here; a lone caller waits for nothing. */
const HANDED_OVER_MIN = 4
/** Megabytes: the curve's module and what one batch needs, with room. */
const HEAP = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 }

export interface SignatureChecksOptions {
  /** A clock that nobody sets. */
  readonly elapsedMs: () => number
  /** Called when the thread does not start or did not answer; nothing is left unchecked. */
  readonly onFault: (error: unknown) => void
  /** The built worker module; by default the one next to this file's build. */
  readonly entry?: URL
}

/** The thread comes up with the first batch that is worth it, and stays. */
export function createSignatureChecks(options: SignatureChecksOptions): SignatureChecks {
  const entry = options.entry ?? new URL('../pool/check-signatures.js', import.meta.url)
  // Named with each task, so that one whose module does not load is refused instead of waiting; and
  // as a path, since a URL would be parsed for each.
  const filename = fileURLToPath(entry)
  let pool: Piscina | null = null
  let loaded: Promise<void> | null = null
  let ready = false
  let closed = false
  const away = new Set<Promise<unknown>>()
  let waitMs = 0
  let dropped = 0

  /** What `close` cuts off is no fault. */
  function failed(error: unknown): void {
    if (!closed) options.onFault(error)
  }

  function start(): Piscina {
    const { COUNTERSIGN_MODE } = process.env
    const started = new Piscina({
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: Number.POSITIVE_INFINITY,
      concurrentTasksPerWorker: FULL_BATCHES_IN_FLIGHT_MAX,
      resourceLimits: HEAP,
      env: COUNTERSIGN_MODE === undefined ? {} : { COUNTERSIGN_MODE },
      recordTiming: false,
      // Without atomics a waiting thread blocks nothing and can be ended at once.
      atomics: 'disabled',
    })
    // A thread that dies idle is replaced by the next batch; unheard, the event ends the process.
    started.on('error', () => {})
    // Until its modules are loaded, checking here is faster.
    loaded = started.run(null, { filename, name: 'warm' }).then(() => {
      ready = !closed
    }, failed)
    return started
  }

  return {
    async check(checks) {
      if (closed || CORES === 1 || checks.length < HANDED_OVER_MIN) return checks.map(isValid)
      pool ??= start()
      if (!ready || !checks.every(fitsRow)) return checks.map(isValid)
      const sinceMs = options.elapsedMs()
      const row = rowOf(checks)
      const answer: Promise<number> = pool.run(row, {
        filename,
        name: 'check',
        transferList: [row.buffer],
      })
      away.add(answer)
      try {
        const bitmap = await answer
        return checks.map((_, index) => hasBit(bitmap, index))
      } catch (error) {
        dropped++
        failed(error)
        return checks.map(isValid)
      } finally {
        away.delete(answer)
        waitMs = options.elapsedMs() - sinceMs
      }
    },
    read: () => ({ length: away.size, waitMs, dropped }),
    async close() {
      closed = true
      // A thread that is ended while it loads modules takes the process with it: Node asserts that
      // they are linked, and native ones throw where nobody catches. Amid a batch they do as well.
      await loaded
      await Promise.allSettled(away)
      await pool?.destroy()
    },
  }
}

function isValid({ point, digest, signature }: SignatureCheck): boolean {
  return isSignedBy(point, digest, signature)
}

function fitsRow({ signature }: SignatureCheck): boolean {
  return signature.length === CHECK_BYTES - CHECK_AT.signature
}

function rowOf(checks: readonly SignatureCheck[]): Uint8Array<ArrayBuffer> {
  const row = new Uint8Array(checks.length * CHECK_BYTES)
  checks.forEach(({ point, digest, signature }, index) => {
    const at = index * CHECK_BYTES
    row.set(point, at + CHECK_AT.point)
    row.set(digest, at + CHECK_AT.digest)
    row.set(signature, at + CHECK_AT.signature)
  })
  return row
}
