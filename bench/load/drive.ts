import { type Latencies, latenciesOf } from '../figures.js'
import {
  type Connection,
  type LoadAnswer,
  openConnection,
  type RequestBytes,
} from './connection.js'

/** The result of a load. */
export interface LoadFigures extends Latencies {
  /** Answers with status 2xx. */
  readonly done: number
  readonly perSecond: number
  /** Other answers, by status and code. */
  readonly refused: Readonly<Record<string, number>>
}

export interface ClosedLoad {
  /** One port, or that of each caller. */
  readonly port: number | ((caller: number) => number)
  /** The number of connections, each with one request under way at all times. */
  readonly callers: number
  readonly runMs: number
  /** Bytes of the next request of a caller. */
  readonly next: (caller: number, turn: number) => RequestBytes
  /** Called for each answer with status 2xx. */
  readonly onDone?: (answer: LoadAnswer) => void
}

/**
 * Drives callers that wait for their answer before they ask again. A request costs no promise: see
 * `ask`.
 */
export async function driveClosed(load: ClosedLoad): Promise<LoadFigures> {
  const { port, callers, runMs, next, onDone } = load
  const connections = await Promise.all(
    Array.from({ length: callers }, (_, caller) =>
      openConnection('127.0.0.1', typeof port === 'number' ? port : port(caller)),
    ),
  )
  const tally = createTally()
  const startedAt = performance.now()
  const deadline = startedAt + runMs

  function call(connection: Connection, caller: number): Promise<void> {
    return new Promise((resolve, reject) => {
      let turn = 0
      let askedAt = 0
      const ask = (now: number) => {
        askedAt = now
        connection.ask(next(caller, turn++), take)
      }
      const take = (answer: LoadAnswer | Error) => {
        if (answer instanceof Error) {
          reject(answer)
          return
        }
        const now = performance.now()
        tally.add(answer, now - askedAt)
        if (isDone(answer)) onDone?.(answer)
        if (now >= deadline) resolve()
        else ask(now)
      }
      ask(performance.now())
    })
  }

  try {
    await Promise.all(connections.map(call))
    return tally.figures(performance.now() - startedAt)
  } finally {
    for (const connection of connections) connection.close()
  }
}

export function isDone({ status }: LoadAnswer): boolean {
  return status >= 200 && status < 300
}

/** Collects answers; latencies only of those with status 2xx. */
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
