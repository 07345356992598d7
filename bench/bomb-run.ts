import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { KEY_POLICY } from '../src/auth/rate-limit.js'
import type { BombAnswers, BombCommand, BombLoad } from './bomb-load.js'
import { startCpuMeter } from './cpu.js'
import type { RequestBytes } from './load/connection.js'
import { driveOpen } from './load/drive-open.js'
import { say } from './say.js'
import { startSinkStack } from './sink-stack.js'
import { anvilTarget, startStack } from './stack.js'
import { createSends, measureWritePath, type WriteTarget } from './write-path.js'

export const CHAINS = ['sink', 'anvil'] as const
export type ChainName = (typeof CHAINS)[number]

export interface BombOptions {
  readonly chain: ChainName
  readonly sendsPerSecond: number
  readonly bombsPerSecond: number
  readonly rounds: number
  readonly phaseMs: number
}

export interface BombPhase {
  /** Latencies of the accepted honest sends, from when each was due. */
  readonly latenciesMs: readonly number[]
  /** Honest sends that were refused, broken or could not be made. */
  readonly lost: number
  /** CPU seconds per second. */
  readonly cpu: {
    readonly serviceMain: number
    readonly serviceOthers: number
    readonly chain: number
  }
}

export interface BombRun {
  readonly rounds: readonly { readonly without: BombPhase; readonly during: BombPhase }[]
  readonly answers: Readonly<Record<string, number>>
  readonly worstBombMs: number
}

const ANVIL_CHAIN = 8453
/** An honest key stays far below its own rate. */
const SENDS_PER_KEY_AND_SECOND = 50
const HONEST_KEYS_MIN = 8
const CONNECTIONS = 256
const CONNECTIONS_AT_START = 16
/** Until the code is compiled. */
const WARM_UP = { callers: 16, runMs: 5_000 }
/** The default limits of keys, because the cost of a long body is part of the defence. */
const RATES = { COUNTERSIGN_RATE_PER_SECOND: String(KEY_POLICY.refillPerSecond) }

/**
 * Rounds of a phase without and one with bombs. Which comes first alternates, so that a machine
 * that slows down or speeds up favours neither.
 */
export async function runBombs(options: BombOptions): Promise<BombRun> {
  const { sendsPerSecond, phaseMs } = options
  const honestKeys = Math.max(HONEST_KEYS_MIN, sendsPerSecond / SENDS_PER_KEY_AND_SECOND)
  const stack = await startTarget(options.chain, Math.ceil(honestKeys) + 1)
  const target = { ...stack.target, secrets: stack.target.secrets.slice(0, -1) }
  const bomber = startBomber({
    port: target.port,
    secret: stack.target.secrets.at(-1) ?? '',
    chainId: target.chainId,
    perSecond: options.bombsPerSecond,
  })
  const answers: Record<string, number> = {}
  let worstBombMs = 0
  const next = createSends(target)
  const honest = (runMs: number) => honestPhase(target, () => next(0), sendsPerSecond, runMs)

  async function bombed(runMs: number): Promise<BombPhase> {
    bomber.tell('start')
    const phase = await honest(runMs)
    const said = await bomber.stop()
    for (const [what, n] of Object.entries(said.answers)) answers[what] = (answers[what] ?? 0) + n
    worstBombMs = Math.max(worstBombMs, said.worstMs)
    return phase
  }

  try {
    await measureWritePath(target, WARM_UP)
    await bombed(phaseMs)
    for (const what of Object.keys(answers)) delete answers[what]
    worstBombMs = 0
    const rounds: { without: BombPhase; during: BombPhase }[] = []
    for (let round = 0; round < options.rounds; round++) {
      say(`round ${round + 1} of ${options.rounds}`)
      if (round % 2 === 0) {
        const without = await honest(phaseMs)
        rounds.push({ without, during: await bombed(phaseMs) })
      } else {
        const during = await bombed(phaseMs)
        rounds.push({ without: await honest(phaseMs), during })
      }
    }
    return { rounds, answers, worstBombMs }
  } finally {
    bomber.tell('end')
    await stack.stop()
  }
}

interface Target {
  readonly target: WriteTarget
  stop(): Promise<void>
}

async function startTarget(chain: ChainName, wallets: number): Promise<Target> {
  if (chain === 'sink') {
    const stack = await startSinkStack({ wallets, env: RATES })
    return { target: stack, stop: () => stack.stop() }
  }
  const stack = await startStack(wallets, ANVIL_CHAIN, RATES)
  return { target: anvilTarget(stack, ANVIL_CHAIN), stop: () => stack.stop() }
}

function startBomber(load: BombLoad) {
  const worker = new Worker(new URL('./bomb-load.js', import.meta.url), { workerData: load })
  const tell = (command: BombCommand) => worker.postMessage(command)
  return {
    tell,
    async stop(): Promise<BombAnswers> {
      tell('stop')
      const [said] = (await once(worker, 'message')) as [BombAnswers]
      return said
    },
  }
}

async function honestPhase(
  target: WriteTarget,
  next: () => RequestBytes,
  perSecond: number,
  runMs: number,
): Promise<BombPhase> {
  const latenciesMs: number[] = []
  const { service = 0, chain = 0 } = target.pids
  const meter = startCpuMeter({ service, chain })
  const startedAt = performance.now()
  const { offered } = await driveOpen({
    port: target.port,
    perSecond,
    runMs,
    connections: CONNECTIONS,
    openAtStart: CONNECTIONS_AT_START,
    next,
    onDone: (_, latencyMs) => latenciesMs.push(latencyMs),
  })
  const elapsedMicros = (performance.now() - startedAt) * 1_000
  const spent = meter()
  return {
    latenciesMs,
    lost: offered - latenciesMs.length,
    cpu: {
      serviceMain: spent.service.main / elapsedMicros,
      serviceOthers: (spent.service.total - spent.service.main) / elapsedMicros,
      chain: spent.chain.total / elapsedMicros,
    },
  }
}
