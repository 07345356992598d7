import {
  type Connection,
  type LoadAnswer,
  openConnection,
  type RequestBytes,
} from './connection.js'
import { createTally, isDone, type LoadFigures } from './drive.js'

export interface OpenLoad {
  readonly port: number
  readonly perSecond: number
  readonly runMs: number
  /** Connections at most; a request that finds none free is not made, and counted. */
  readonly connections: number
  /**
   * Opened before the first request is due, as agents that live have theirs open; default none.
   * Else the first moments measure how fast sockets are made.
   */
  readonly openAtStart?: number
  readonly next: () => RequestBytes
  /** Of each answer with status 2xx; milliseconds from when its request was due. */
  readonly onDone?: (answer: LoadAnswer, latencyMs: number) => void
}

export interface OpenFigures extends LoadFigures {
  readonly offered: number
  /** Due while every connection was busy. */
  readonly unsent: number
  /** Ended without an answer. */
  readonly broken: number
}

const TICK_MS = 2
const OPENING_AT_ONCE = 64
/** The service closes a silent connection after ten seconds. */
const IDLE_MAX_MS = 5_000

/**
 * Requests at a fixed rate, whatever the answers: callers that wait would hide a slow service.
 * Latency counts from when a request was due, so that a generator which falls behind does not
 * look fast.
 */
export async function driveOpen(load: OpenLoad): Promise<OpenFigures> {
  const { perSecond, runMs, next, onDone } = load
  /** Since when each rests, the longest first. */
  const idle = new Map<Connection, number>()
  const live = new Set<Connection>()
  const tally = createTally()
  const underWay = new Set<Promise<void>>()
  let offered = 0
  let unsent = 0
  let broken = 0
  let opening = 0

  /** The one that rested longest, as each agent has its own. The service closes silent ones. */
  function fresh(): Connection | undefined {
    for (const [connection, sinceMs] of idle) {
      idle.delete(connection)
      if (performance.now() - sinceMs < IDLE_MAX_MS) return connection
      drop(connection)
    }
    return undefined
  }

  function drop(connection: Connection): void {
    connection.close()
    live.delete(connection)
  }

  async function open(): Promise<Connection> {
    opening++
    try {
      const connection = await openConnection('127.0.0.1', load.port)
      live.add(connection)
      return connection
    } finally {
      opening--
    }
  }

  async function exchange(dueAtMs: number, known: Connection | undefined): Promise<void> {
    let connection = known
    try {
      connection ??= await open()
      const answer = await connection.request(next())
      const latencyMs = performance.now() - dueAtMs
      tally.add(answer, latencyMs)
      if (isDone(answer)) onDone?.(answer, latencyMs)
      idle.set(connection, performance.now())
    } catch {
      broken++
      if (connection !== undefined) drop(connection)
    }
  }

  function fire(dueAtMs: number): void {
    const connection = fresh()
    if (connection === undefined && live.size + opening >= load.connections) {
      unsent++
      return
    }
    const one = exchange(dueAtMs, connection).finally(() => underWay.delete(one))
    underWay.add(one)
  }

  async function openSome(wanted: number): Promise<void> {
    while (live.size < wanted) {
      const some = Math.min(OPENING_AT_ONCE, wanted - live.size)
      const opened = await Promise.all(Array.from({ length: some }, open))
      const sinceMs = performance.now()
      for (const connection of opened) idle.set(connection, sinceMs)
    }
  }

  try {
    await openSome(load.openAtStart ?? 0)
    const startedAt = performance.now()
    for (;;) {
      const elapsedMs = Math.min(runMs, performance.now() - startedAt)
      const due = Math.ceil((elapsedMs * perSecond) / 1_000)
      for (; offered < due; offered++) fire(startedAt + (offered * 1_000) / perSecond)
      if (elapsedMs >= runMs) break
      const untilDueMs = startedAt + (offered * 1_000) / perSecond - performance.now()
      await new Promise((resolve) => setTimeout(resolve, Math.max(TICK_MS, Math.ceil(untilDueMs))))
    }
    const ranMs = performance.now() - startedAt
    await Promise.all(underWay)
    return { ...tally.figures(ranMs), offered, unsent, broken }
  } finally {
    for (const connection of live) connection.close()
  }
}
