import { type HistogramSeries, renderHistogram } from '../domain/exposition.js'

/**
 * Request counts and latencies by operation and status class. They are kept in plain arrays and
 * rendered on scrape, because hashing label sets on every request would cost more than routing
 * does.
 */

/** Upper bounds in seconds, from an answer out of memory to a chain that hardly answers. */
const BUCKETS_SECONDS = [
  0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
] as const

interface Series extends HistogramSeries {
  readonly counts: number[]
  sum: number
}

export interface HttpMetrics {
  /** @param elapsedMs from the request's head to its answer */
  observe(operation: string, status: number, elapsedMs: number): void
  /** Prometheus text format 0.0.4. */
  render(): string
}

export function createHttpMetrics(): HttpMetrics {
  const byOperation = new Map<string, (Series | undefined)[]>()

  function series(operation: string, status: number): Series {
    const statusClass = Math.floor(status / 100)
    let classes = byOperation.get(operation)
    if (classes === undefined) {
      classes = []
      byOperation.set(operation, classes)
    }
    let found = classes[statusClass]
    if (found === undefined) {
      found = {
        labels: { operation, status: `${statusClass}xx` },
        counts: new Array<number>(BUCKETS_SECONDS.length + 1).fill(0),
        sum: 0,
      }
      classes[statusClass] = found
    }
    return found
  }

  return {
    observe(operation, status, elapsedMs) {
      const seconds = elapsedMs / 1_000
      const target = series(operation, status)
      let bucket = 0
      while (seconds > (BUCKETS_SECONDS[bucket] ?? Number.POSITIVE_INFINITY)) bucket++
      target.counts[bucket] = (target.counts[bucket] ?? 0) + 1
      target.sum += seconds
    },
    render() {
      return renderHistogram(
        'countersign_http_request_duration_seconds',
        'Time from the head of a request to its answer.',
        BUCKETS_SECONDS,
        [...byOperation.values()].flat().filter((one) => one !== undefined),
      )
    },
  }
}
