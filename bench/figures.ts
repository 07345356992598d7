import { readFileSync } from 'node:fs'

/** Clock ticks of /proc are a hundredth of a second (proc(5), USER_HZ). */
const TICK_MICROS = 10_000

/** CPU time of a process so far, user and system, all its threads. Microseconds; Linux only. */
export function cpuMicros(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_MICROS
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

/** Rows under a head, columns as wide as their widest cell; numbers to the right. */
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
