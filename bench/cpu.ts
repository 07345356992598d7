import { readdirSync, readFileSync } from 'node:fs'

/** CPU time of the threads of processes, from /proc; Linux only. */

/** One process: microseconds by thread id, as the scheduler counts them. */
export type CpuReading = ReadonlyMap<number, number>

/** CPU time of a process between two readings, in microseconds. */
export interface CpuSpent {
  readonly total: number
  /** Its first thread, which runs the event loop. */
  readonly main: number
  /** The busiest other thread: in the service, the worker that runs the actors. */
  readonly busiest: number
  /** All other threads together: pools, garbage collection, disk. */
  readonly others: number
}

export function readCpu(pid: number): CpuReading {
  const micros = new Map<number, number>()
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      const [nanos] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')
      micros.set(Number(thread), Number(nanos) / 1_000)
    } catch {
      // The thread ended between the listing and the reading.
    }
  }
  return micros
}

export function cpuSpent(pid: number, before: CpuReading, after: CpuReading): CpuSpent {
  let main = 0
  const rest: number[] = []
  for (const [thread, micros] of after) {
    const spent = micros - (before.get(thread) ?? 0)
    if (thread === pid) main = spent
    else rest.push(spent)
  }
  const sum = rest.reduce((total, micros) => total + micros, 0)
  const busiest = Math.max(0, ...rest)
  return { total: main + sum, main, busiest, others: sum - busiest }
}

/** Reads several processes now; the returned function tells what they spent since. */
export function startCpuMeter<Name extends string>(
  pids: Readonly<Record<Name, number>>,
): () => Record<Name, CpuSpent> {
  const names = Object.keys(pids) as Name[]
  const before = new Map(names.map((name) => [name, readCpu(pids[name])]))
  return () =>
    Object.fromEntries(
      names.map((name) => {
        const pid = pids[name]
        return [name, cpuSpent(pid, before.get(name) ?? new Map(), readCpu(pid))]
      }),
    ) as Record<Name, CpuSpent>
}

/** Column of `/proc/stat`'s first line (proc_stat(5)). */
const STEAL_AT = 7
/** Columns that are counted; the guests' time after them is included in the first two. */
const STAT_COLUMNS = 8

/** @returns a function that tells which share of all cores the host has given to others since */
export function startStealMeter(): () => number {
  const read = () => {
    const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n')
    return line
      .trim()
      .split(/\s+/)
      .slice(1, 1 + STAT_COLUMNS)
      .map(Number)
  }
  const before = read()
  return () => {
    const spent = read().map((ticks, column) => ticks - (before[column] ?? 0))
    const all = spent.reduce((sum, ticks) => sum + ticks, 0)
    return (spent[STEAL_AT] ?? 0) / Math.max(1, all)
  }
}

export function perOperation(spent: CpuSpent, operations: number): CpuSpent {
  const n = Math.max(1, operations)
  const { total, main, busiest, others } = spent
  return { total: total / n, main: main / n, busiest: busiest / n, others: others / n }
}
