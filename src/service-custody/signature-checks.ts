import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { Piscina } from 'piscina'
import type { QueueReading } from '../domain/meter.js'
import { hasBit } from '../quorum-protocol/batch.js'
import { isSignedBy } from '../quorum-protocol/curve.js'
import { FULL_BATCHES_IN_FLIGHT_MAX } from '../quorum-protocol/limits.js'

/**
 * The quorum signer is not trusted: a signature counts only when the wallet's own key made it.
 * Checking is half of what a signature costs the service, so a thread of its own checks batches
 * while this one prepares others. Nothing that it checks is secret.
 */
export interface SignatureChecks {
  /**
   * Returns one answer for each check, in order. It never rejects: this thread does what the other
   * cannot.
   */
  check(checks: readonly SignatureCheck[]): Promise<readonly boolean[]>
  /** Batches at the thread; `dropped` counts those checked here because the thread failed. */
  read(): QueueReading
  close(): Promise<void>
}

export interface SignatureCheck {
  /** 33 bytes, compressed. */
  readonly point: Uint8Array
  /** 32 bytes. */
  readonly digest: Uint8Array
  /** r ‖ s ‖ yParity. The check is false unless it has 65 bytes. */
  readonly signature: Uint8Array
}

/** Offsets of the fields of one check in a packed row. */
export const CHECK_AT = { point: 0, digest: 33, signature: 65 } as const
export const CHECK_BYTES = CHECK_AT.signature + 65

/** With one core a second thread brings nothing. */
const CORES = availableParallelism()
/** Handing over fewer takes longer than checking them here. */
const HANDED_OVER_MIN = 4
/** In megabytes: the curve's module and one batch, with room to spare. */
const HEAP = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 }

interface SignatureChecksOptions {
  /** Reads a monotonic clock. */
  readonly elapsedMs: () => number
  /** Called when the thread does not start or does not answer. Every signature is still checked. */
  readonly onFault: (error: unknown) => void
  /** The built worker module; the default is the one beside this file's build. */
  readonly entry?: URL
}

/** Starts the thread with the first batch large enough for it, and keeps it. */
export function createSignatureChecks(options: SignatureChecksOptions): SignatureChecks {
  const entry = options.entry ?? new URL('../pool/check-signatures.js', import.meta.url)
  // Named with each task, so that a worker whose module does not load refuses it instead of
  // hanging. It is a path, because a URL would be parsed for each task.
  const filename = fileURLToPath(entry)
  let pool: Piscina | null = null
  let loaded: Promise<void> | null = null
  let ready = false
  let closed = false
  const away = new Set<Promise<unknown>>()
  let waitMs = 0
  let dropped = 0

  /** A task that `close` cuts off is not a fault. */
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
      // With atomics a waiting thread blocks; without them it can be ended at once.
      atomics: 'disabled',
    })
    // The next batch replaces a thread that died idle; without a listener this event would end the
    // process.
    started.on('error', () => {})
    // Checking here is faster until the thread's modules are loaded.
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
      // Ending a thread while it loads modules ends the process: Node asserts that they are linked,
      // and native modules throw where nothing catches. Ending it during a batch has the same
      // effect.
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
