import { Gauge, type Registry } from 'prom-client'
import {
  METERED_COUNTS,
  METERED_QUEUES,
  type Meter,
  type MeteredCount,
  type MeteredQueue,
  type QueueReading,
} from '../domain/meter.js'

/** Of the rows: the main thread's, then those of the workers. */
export function threadNames(workers: number): string[] {
  return ['main', ...Array.from({ length: workers }, (_, index) => `worker-${index}`)]
}

/** What a queue has in the shared row of its thread. */
const FIELDS = ['length', 'waitMs', 'dropped'] as const
const COUNTS_AT = METERED_QUEUES.length * FIELDS.length
const ROW = COUNTS_AT + METERED_COUNTS.length

/** A row for each thread; figures of one moment, which need not fit each other. */
export function createMeterBuffer(threads: number): SharedArrayBuffer {
  const buffer = new SharedArrayBuffer(threads * ROW * Float64Array.BYTES_PER_ELEMENT)
  // What a thread does not have is left out.
  new Float64Array(buffer).fill(Number.NaN)
  return buffer
}

export interface ThreadMeter extends Meter {
  /** Writes down what everything reads now. */
  post(): void
}

/** @param row of this thread */
export function attachMeter(buffer: SharedArrayBuffer, row: number): ThreadMeter {
  const cells = new Float64Array(buffer, row * ROW * Float64Array.BYTES_PER_ELEMENT, ROW)
  const queues = new Map<MeteredQueue, () => QueueReading>()
  const counts = new Map<MeteredCount, () => number>()
  return {
    queue: (name, read) => void queues.set(name, read),
    count: (name, read) => void counts.set(name, read),
    post() {
      for (const [name, read] of queues) {
        const reading = read()
        const at = METERED_QUEUES.indexOf(name) * FIELDS.length
        for (const [index, field] of FIELDS.entries()) cells[at + index] = reading[field]
      }
      for (const [name, read] of counts) cells[COUNTS_AT + METERED_COUNTS.indexOf(name)] = read()
    },
  }
}

const HELP = {
  length: ['countersign_queue_length', 'What waits in a queue, by queue and thread.'],
  waitMs: ['countersign_queue_wait_seconds', 'How long something waited there lately.'],
  dropped: ['countersign_queue_dropped_total', 'What was turned away since the queue was full.'],
} as const

/**
 * Shows the rows of all threads when Prometheus asks.
 * @param threads names of the rows, the main thread's first
 * @param post has the main thread's own row written
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
  const counted = new Gauge({
    name: 'countersign_counts_total',
    help: 'What happened since the start, by kind and thread.',
    labelNames: ['kind', 'thread'],
    registers,
    collect() {
      for (const [index, kind] of METERED_COUNTS.entries()) {
        for (const [thread, value] of rowsAt(COUNTS_AT + index))
          counted.set({ kind, thread }, value)
      }
    },
  })
}
