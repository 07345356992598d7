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
  /** The most connections; a request that finds none free is not made, but counted. */
  readonly connections: number
  /**
   * Opened before the first request is due, as live agents have theirs open; none by default.
   * Otherwise the first moments would measure how fast sockets are opened.
   */
  readonly openAtStart?: number
  readonly next: () => RequestBytes
  /** Called for each answer with status 2xx; milliseconds from when its request was due. */
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

/** A connection with its request under way. */
interface Agent {
  readonly connection: Connection
  /** When its request was due. */
  dueAtMs: number
  /** When its last answer came. */
  restsSinceMs: number
  readonly take: (answer: LoadAnswer | Error) => void
}

/**
 * Sends requests at a fixed rate, whatever the answers, because callers that wait would hide a slow
 * service. Latency counts from when a request was due, so that a slow generator does not look fast.
 * At ten times the capacity of the service the generator competes with it for the machine, so a
 * request costs no promise.
 */
export async function driveOpen(load: OpenLoad): Promise<OpenFigures> {
  const { perSecond, runMs, next, onDone } = load
  const live = new Set<Agent>()
  /** Sorted by idle time, longest first. */
  const idle: Agent[] = []
  const tally = createTally()
  let offered = 0
  let unsent = 0
  let broken = 0
  let opening = 0
  let underWay = 0
  let onNoneUnderWay = () => {}

  /** The agent that was idle longest, so that all are used; the service closes silent ones. */
  function rested(): Agent | undefined {
    for (let agent = idle.shift(); agent !== undefined; agent = idle.shift()) {
      if (performance.now() - agent.restsSinceMs < IDLE_MAX_MS) return agent
      drop(agent)
    }
    return undefined
  }

  function drop(agent: Agent): void {
    agent.connection.close()
    live.delete(agent)
  }

  async function open(): Promise<Agent> {
    opening++
    try {
      const connection = await openConnection('127.0.0.1', load.port)
      const agent: Agent = {
        connection,
        dueAtMs: 0,
        restsSinceMs: performance.now(),
        take: (answer) => took(agent, answer),
      }
      live.add(agent)
      return agent
    } finally {
      opening--
    }
  }

  function took(agent: Agent, answer: LoadAnswer | Error): void {
    const now = performance.now()
    try {
      if (answer instanceof Error) throw answer
      const latencyMs = now - agent.dueAtMs
      tally.add(answer, latencyMs)
      if (isDone(answer)) onDone?.(answer, latencyMs)
      agent.restsSinceMs = now
      idle.push(agent)
    } catch {
      broken++
      drop(agent)
    }
    ended()
  }

  function ended(): void {
    underWay--
    if (underWay === 0) onNoneUnderWay()
  }

  function ask(agent: Agent, dueAtMs: number): void {
    agent.dueAtMs = dueAtMs
    agent.connection.ask(next(), agent.take)
  }

  function fire(dueAtMs: number): void {
    const agent = rested()
    if (agent === undefined && live.size + opening >= load.connections) {
      unsent++
      return
    }
    underWay++
    if (agent !== undefined) ask(agent, dueAtMs)
    else openAndAsk(dueAtMs)
  }

  function openAndAsk(dueAtMs: number): void {
    open().then(
      (agent) => ask(agent, dueAtMs),
      () => {
        broken++
        ended()
      },
    )
  }

  async function openSome(wanted: number): Promise<void> {
    while (live.size < wanted) {
      const some = Math.min(OPENING_AT_ONCE, wanted - live.size)
      idle.push(...(await Promise.all(Array.from({ length: some }, open))))
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
    await new Promise<void>((resolve) => {
      onNoneUnderWay = resolve
      if (underWay === 0) resolve()
    })
    return { ...tally.figures(ranMs), offered, unsent, broken }
  } finally {
    for (const { connection } of live) connection.close()
  }
}
