import { type Latencies, latenciesOf } from '../figures.js'
import { type LoadAnswer, openConnection, type RequestBytes } from './connection.js'

/** What came of a load. */
export interface LoadFigures extends Latencies {
  /** Answers with status 2xx. */
  readonly done: number
  readonly perSecond: number
  /** Other answers, by status and code. */
  readonly refused: Readonly<Record<string, number>>
}

export interface ClosedLoad {
  readonly port: number
  /** Connections, each with one request under way at all times. */
  readonly callers: number
  readonly runMs: number
  /** Bytes of the next request of a caller. */
  readonly next: (caller: number, turn: number) => RequestBytes
  /** Of each answer with status 2xx. */
  readonly onDone?: (answer: LoadAnswer) => void
}

/** Callers that wait for their answer before they ask again. */
export async function driveClosed(load: ClosedLoad): Promise<LoadFigures> {
  const { port, callers, runMs, next, onDone } = load
  const connections = await Promise.all(
    Array.from({ length: callers }, () => openConnection('127.0.0.1', port)),
  )
  const tally = createTally()
  try {
    const startedAt = performance.now()
    const deadline = startedAt + runMs
    await Promise.all(
      connections.map(async (connection, caller) => {
        for (let turn = 0; ; turn++) {
          const from = performance.now()
          if (from >= deadline) return
          const answer = await connection.request(next(caller, turn))
          tally.add(answer, performance.now() - from)
          if (isDone(answer)) onDone?.(answer)
        }
      }),
    )
    return tally.figures(performance.now() - startedAt)
  } finally {
    for (const connection of connections) connection.close()
  }
}

export function isDone({ status }: LoadAnswer): boolean {
  return status >= 200 && status < 300
}

/** Collects answers; latencies are of those with status 2xx alone. */
export function createTally() {
  const latenciesMs: number[] = []
  const refused: Record<string, number> = {}
  return {
    add(answer: LoadAnswer, latencyMs: number): void {
      if (isDone(answer)) latenciesMs.push(latencyMs)
      else {
        const code = /"code": ?"?([A-Z_\d-]+)/.exec(answer.body)?.[1] ?? ''
        const what = `${answer.status} ${code}`.trim()
        refused[what] = (refused[what] ?? 0) + 1
      }
    },
    figures(elapsedMs: number): LoadFigures {
      return {
        done: latenciesMs.length,
        perSecond: (latenciesMs.length / elapsedMs) * 1_000,
        refused,
        ...latenciesOf(latenciesMs),
      }
    },
  }
}
