import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { Pool } from 'undici'
import type { BombAnswers, BombLoad } from './bomb-load.js'
import { cpuMicros, ms, quantileMs, table } from './figures.js'
import { startStack } from './stack.js'

/**
 * `npm run bench:bombs`: what honest sends wait while one client sends calldata of 128 kB that is
 * made to be dear, 50 times a second. Phases without and with take turns, so that what the machine
 * does meanwhile falls on both alike.
 */
const CHAIN = 8453
const RECIPIENT = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
/** The last one is the hostile client's. */
const WALLETS = 9
/** Honest sends come at a fixed rate: callers that wait for answers would hide a slow service. */
const HONEST_PER_SECOND = 40
const BOMBS_PER_SECOND = 50
const PHASE_MS = 10_000
const ROUNDS = 4

interface Phase {
  readonly latenciesMs: readonly number[]
  readonly refused: number
  /** CPU seconds per second. */
  readonly cpu: { readonly service: number; readonly chain: number }
}

/** The limits that keys have by default: what a long body costs is part of the defence. */
const stack = await startStack(WALLETS, CHAIN, {})
const secrets = stack.secrets.slice(0, -1)
const load: BombLoad = {
  baseUrl: stack.baseUrl,
  secret: stack.secrets.at(-1) ?? '',
  chainId: CHAIN,
  perSecond: BOMBS_PER_SECOND,
}
const bomber = new Worker(new URL('./bomb-load.js', import.meta.url), { workerData: load })
const pool = new Pool(stack.baseUrl, { connections: 64, pipelining: 1 })
const without: Phase[] = []
const during: Phase[] = []
const answers: Record<string, number> = {}
let worstBombMs = 0
try {
  await honest(1_000)
  for (let round = 0; round < ROUNDS; round++) {
    without.push(await honest(PHASE_MS))
    bomber.postMessage('start')
    during.push(await honest(PHASE_MS))
    bomber.postMessage('stop')
    const [said] = (await once(bomber, 'message')) as [BombAnswers]
    for (const [what, n] of Object.entries(said.answers)) answers[what] = (answers[what] ?? 0) + n
    worstBombMs = Math.max(worstBombMs, said.worstMs)
  }
} finally {
  bomber.postMessage('end')
  await pool.close()
  await stack.stop()
}

const rows = [row('without', without), row('with bombs', during)]
console.log(
  table(['honest sends', 'n', 'p50 ms', 'p95 ms', 'p99 ms', 'refused', 'S CPU', 'chain CPU'], rows),
)
const ratio = quantileOf(during, 0.99) / quantileOf(without, 0.99)
const perRound = during.map(
  (phase, round) => quantileOf([phase], 0.99) / quantileOf(without.slice(round, round + 1), 0.99),
)
console.log(`
p99 with ÷ without: ${ratio.toFixed(2)} (bar 1.10); by round ${perRound.map((it) => it.toFixed(2)).join(', ')}
bombs answered: ${JSON.stringify(answers)}, the slowest in ${ms(worstBombMs)} ms`)

async function honest(runMs: number): Promise<Phase> {
  const latenciesMs: number[] = []
  let refused = 0
  const { service, chains } = stack.pids
  const pids = [service, chains[CHAIN] ?? service]
  const cpuBefore = pids.map(cpuMicros)
  const startedAt = performance.now()
  const underWay: Promise<void>[] = []
  for (let i = 0; ; i++) {
    const dueAt = startedAt + (i * 1_000) / HONEST_PER_SECOND
    if (dueAt - startedAt >= runMs) break
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueAt - performance.now())))
    // Measured from when it was due: a generator that falls behind must not look fast.
    underWay.push(
      send(secrets[i % secrets.length] ?? '').then((ok) => {
        if (ok) latenciesMs.push(performance.now() - dueAt)
        else refused++
      }),
    )
  }
  await Promise.all(underWay)
  const elapsedMs = performance.now() - startedAt
  const [s = 0, c = 0] = pids.map(
    (pid, i) => (cpuMicros(pid) - (cpuBefore[i] ?? 0)) / 1_000 / elapsedMs,
  )
  return { latenciesMs, refused, cpu: { service: s, chain: c } }
}

async function send(secret: string): Promise<boolean> {
  const { statusCode, body } = await pool.request({
    method: 'POST',
    path: '/api/tx/send',
    headers: { 'x-api-key': secret, 'content-type': 'application/json' },
    body: JSON.stringify({ chain_id: CHAIN, to: RECIPIENT, value: '1' }),
  })
  await body.dump()
  return statusCode === 200 || statusCode === 202
}

function row(label: string, phases: readonly Phase[]): string[] {
  const cpuOf = (part: keyof Phase['cpu']) =>
    phases.reduce((sum, { cpu }) => sum + cpu[part], 0) / phases.length
  return [
    label,
    String(phases.reduce((sum, { latenciesMs }) => sum + latenciesMs.length, 0)),
    ...[0.5, 0.95, 0.99].map((q) => ms(quantileOf(phases, q))),
    String(phases.reduce((sum, { refused }) => sum + refused, 0)),
    `${(cpuOf('service') * 100).toFixed(0)} %`,
    `${(cpuOf('chain') * 100).toFixed(0)} %`,
  ]
}

function quantileOf(phases: readonly Phase[], q: number): number {
  const all = phases.flatMap(({ latenciesMs }) => latenciesMs).sort((a, b) => a - b)
  return quantileMs(all, q)
}
