import { readFileSync } from 'node:fs'

/** Clock ticks in /proc are hundredths of a second (proc(5), USER_HZ). */
const TICK_MICROS = 10_000

/** CPU time of a process so far: user and system, all threads. Microseconds; Linux only. */
export function cpuMicros(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_MICROS
}

/** Percentiles of answer times, in milliseconds. */
export interface Latencies {
  readonly p50Ms: number
  readonly p95Ms: number
  readonly p99Ms: number
}

export function latenciesOf(latenciesMs: readonly number[]): Latencies {
  const sorted = Float64Array.from(latenciesMs).sort()
  const at = (q: number) => sorted[Math.floor((sorted.length - 1) * q)] ?? 0
  return { p50Ms: at(0.5), p95Ms: at(0.95), p99Ms: at(0.99) }
}

/** For an even number of values the mean of the two in the middle; 0 for none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const upper = sorted[Math.floor(sorted.length / 2)] ?? 0
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? 0
  return (lower + upper) / 2
}

/** @param sorted ascending */
export function quantileMs(sorted: readonly number[], q: number): number {
  return sorted[Math.floor((sorted.length - 1) * q)] ?? 0
}

export function count(value: number): string {
  return Math.round(value).toLocaleString('en')
}

export function ms(value: number): string {
  return value.toFixed(2)
}

/** What a run had to reach, one per line. */
export function verdicts(bars: Readonly<Record<string, boolean>>): readonly string[] {
  return Object.entries(bars).map(([bar, met]) => `${bar}: ${met ? 'met' : 'NOT met'}`)
}

/** Rows under a head, with columns as wide as their widest cell and numbers right-aligned. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, i) =>
    Math.max(title.length, ...rows.map((row) => row[i]?.length ?? 0)),
  )
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join('   ')
  return [line(head), widths.map((width) => '-'.repeat(width)).join('   '), ...rows.map(line)].join(
    '\n',
  )
}
