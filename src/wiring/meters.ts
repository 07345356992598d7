import { Gauge, type Registry } from 'prom-client'
import { renderHistogram } from '../domain/exposition.js'
import {
  METERED_LATENCIES,
  METERED_QUEUES,
  type Meter,
  type MeteredLatency,
  type MeteredQueue,
  type QueueReading,
  type QueueTotal,
} from '../domain/meter.js'

/** The names of the rows: the main thread's, then those of the workers. */
export function threadNames(workers: number): string[] {
  return ['main', ...Array.from({ length: workers }, (_, index) => `worker-${index}`)]
}

/** The fields of a queue in the shared row of its thread. */
const FIELDS = ['length', 'waitMs', 'dropped'] as const
const LATENCIES_AT = METERED_QUEUES.length * FIELDS.length

/** Upper bounds, seconds: from a commit to a chain's depth. */
const BUCKETS_SECONDS = [
  0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180, 600, 1_800,
] as const
/** A cell for each bucket, one for larger values and one for the sum in seconds. */
const LATENCY_CELLS = BUCKETS_SECONDS.length + 2
const ROW = LATENCIES_AT + METERED_LATENCIES.length * LATENCY_CELLS

/** A row for each thread; the values are read at different moments and need not be consistent. */
export function createMeterBuffer(threads: number): SharedArrayBuffer {
  const buffer = new SharedArrayBuffer(threads * ROW * Float64Array.BYTES_PER_ELEMENT)
  // Values that a thread does not have stay NaN and are left out.
  new Float64Array(buffer).fill(Number.NaN)
  return buffer
}

export interface ThreadMeter extends Meter {
  /** Writes the present readings. */
  post(): void
}

/** @param row of this thread */
export function attachMeter(buffer: SharedArrayBuffer, row: number): ThreadMeter {
  const cells = new Float64Array(buffer, row * ROW * Float64Array.BYTES_PER_ELEMENT, ROW)
  const queues = new Map<MeteredQueue, () => QueueReading>()

  function latency(name: MeteredLatency): (elapsedMs: number) => void {
    const at = LATENCIES_AT + METERED_LATENCIES.indexOf(name) * LATENCY_CELLS
    const sumAt = at + LATENCY_CELLS - 1
    cells.fill(0, at, sumAt + 1)
    return (elapsedMs) => {
      const seconds = elapsedMs / 1_000
      let bucket = 0
      while (seconds > (BUCKETS_SECONDS[bucket] ?? Number.POSITIVE_INFINITY)) bucket++
      cells[at + bucket] = (cells[at + bucket] ?? 0) + 1
      cells[sumAt] = (cells[sumAt] ?? 0) + seconds
    }
  }

  return {
    queue: (name, read) => void queues.set(name, read),
    latency,
    post() {
      for (const [name, read] of queues) {
        const reading = read()
        const at = METERED_QUEUES.indexOf(name) * FIELDS.length
        for (const [index, field] of FIELDS.entries()) cells[at + index] = reading[field]
      }
    },
  }
}

const HELP = {
  length: ['countersign_queue_length', 'Items waiting in a queue, by queue and thread.'],
  waitMs: ['countersign_queue_wait_seconds', 'The wait of a recent item, by queue and thread.'],
  dropped: ['countersign_queue_dropped_total', 'Items dropped because the queue was full.'],
} as const

/**
 * The readings as numbers, for readers other than Prometheus; a queue that no thread has is left
 * out.
 */
export function readQueues(buffer: SharedArrayBuffer): QueueTotal[] {
  const cells = new Float64Array(buffer)
  const rows = Array.from({ length: cells.length / ROW }, (_, row) => row * ROW)
  return METERED_QUEUES.flatMap((queue, index) => {
    const at = index * FIELDS.length
    const own = rows.map((row) => row + at).filter((cell) => !Number.isNaN(cells[cell]))
    if (own.length === 0) return []
    const all = (field: number) => own.map((cell) => cells[cell + field] ?? 0)
    const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
    return [{ queue, length: sum(all(0)), waitMs: Math.max(...all(1)), dropped: sum(all(2)) }]
  })
}

/**
 * Shows the rows of all threads when Prometheus scrapes.
 * @param threads names of the rows, the main thread's first
 * @param post makes the main thread write its own row
 */
export function registerMeters(
  registry: Registry,
  buffer: SharedArrayBuffer,
  threads: readonly string[],
  post: () => void,
): void {
  const cells = new Float64Array(buffer)
  const registers = [registry]

  function* rowsAt(index: number): Generator<readonly [thread: string, value: number]> {
    for (const [row, thread] of threads.entries()) {
      const value = cells[row * ROW + index] ?? Number.NaN
      if (!Number.isNaN(value)) yield [thread, value]
    }
  }

  for (const [field, key] of FIELDS.entries()) {
    const [name, help] = HELP[key]
    const gauge = new Gauge({
      name,
      help,
      labelNames: ['queue', 'thread'],
      registers,
      collect() {
        post()
        for (const [index, queue] of METERED_QUEUES.entries()) {
          for (const [thread, value] of rowsAt(index * FIELDS.length + field)) {
            gauge.set({ queue, thread }, key === 'waitMs' ? value / 1_000 : value)
          }
        }
      },
    })
  }
}

const LATENCY_HELP: Readonly<Record<MeteredLatency, string>> = {
  signing: 'The time that a wallet waits for a signature.',
  approval: "The identity provider's answer to a batch of signatures.",
  joining: 'The rest of such a batch: evidence, the quorum signer, checks.',
  commit: 'One synced write of the store.',
  broadcast: 'From a signature to the first node that took the transaction.',
  confirmation: 'From a signature to the depth at which the transaction counts.',
}

/** @returns a function that renders the latencies of all threads together */
export function showLatencies(buffer: SharedArrayBuffer): () => string {
  const cells = new Float64Array(buffer)
  const rows = Array.from({ length: cells.length / ROW }, (_, row) => row * ROW)

  /** A thread that never recorded the latency has no numbers. */
  function sum(at: number): number {
    return rows.reduce((total, row) => total + (cells[row + at] || 0), 0)
  }

  return () =>
    METERED_LATENCIES.map((name, index) => {
      const at = LATENCIES_AT + index * LATENCY_CELLS
      const counts = Array.from({ length: LATENCY_CELLS - 1 }, (_, bucket) => sum(at + bucket))
      const series = { labels: {}, counts, sum: sum(at + LATENCY_CELLS - 1) }
      const title = `countersign_${name}_duration_seconds`
      return renderHistogram(title, LATENCY_HELP[name], BUCKETS_SECONDS, [series])
    }).join('')
}
