import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { httpClient } from '../support/http-client.js'
import { journalPart, type StandbyPair, startStandbyPair } from './standby-pair.js'

/** Of each kind; `npm run test:long -- journal-takeover` does ten. */
const TAKE_OVERS = Number(process.env.TAKE_OVERS ?? 1)
const TAKES_OVER = { timeout: 60_000 }
const TAKE_OVERS_MS_MAX = 900_000
/** An owner says twice a second that it lives: it ends at any moment between. */
const HEARTBEAT_MS = 500

const DECIDED = 'the leader of the journal is gone; this standby takes over'
const STEPS = [
  DECIDED,
  'the journal is acquired, and the store is up to date',
  'the quorum is complete',
  'the wallet service listens',
]

interface Owner {
  readonly url: string
  readonly home: string
  readonly pid: number
}

interface Failover {
  readonly answeredMs: number
  /** By its own log. */
  readonly steps: readonly { readonly msg: string; readonly atMs: number }[]
}

/**
 * How a standby that has loaded all it needs becomes the owner. Tests hold the order; how long it
 * takes is printed, since it is the machine's.
 */
describe('a failover', () => {
  let pair: StandbyPair
  let leader: Owner

  beforeAll(async () => {
    pair = await startStandbyPair(1)
    const { stack } = pair
    leader = { url: stack.baseUrl, home: stack.home, pid: stack.pids.service }
  })
  afterAll(() => pair?.stop())

  async function statusOfSend(url: string): Promise<number> {
    const api = httpClient(url, { 'x-api-key': pair.stack.secrets[0] ?? '' })
    const to = `0x${randomBytes(20).toString('hex')}`
    const body = { chain_id: pair.stack.chainId, to, value: '1' }
    const reply = await api.post('/api/tx/send', body).catch(() => null)
    return reply?.status ?? 0
  }

  async function failover(signal: NodeJS.Signals): Promise<Failover> {
    const home = leader.home === pair.home ? pair.stack.home : pair.home
    const { url, child } = await pair.startStandby(home)
    await expect
      .poll(() => journalPart(url), TAKES_OVER)
      .toMatchObject({ standby: true, loaded: true, behind: 0 })
    await expect.poll(() => statusOfSend(leader.url), TAKES_OVER).toBe(200)
    await sleep(HEARTBEAT_MS * (1 + Math.random()))
    const endedAt = performance.now()
    process.kill(leader.pid, signal)
    while ((await statusOfSend(url)) !== 200) await sleep(10)
    const answeredMs = Math.round(performance.now() - endedAt)
    const { pid, said } = await child
    leader = { url, home, pid }
    const lines = said().split('\n')
    const steps = lines.flatMap((line) => stepOf(line) ?? [])
    return { answeredMs, steps }
  }

  test.each(['SIGKILL', 'SIGTERM'] as const)(
    'after a %s begins what it has loaded, in one order',
    { timeout: TAKE_OVERS_MS_MAX },
    async (signal) => {
      const taken: Failover[] = []
      while (taken.length < TAKE_OVERS) taken.push(await failover(signal))
      for (const { steps } of taken) {
        const inTime = steps.toSorted((a, b) => a.atMs - b.atMs).map(({ msg }) => msg)
        expect([...new Set(inTime)]).toEqual(STEPS)
      }
      say(
        `${signal}, until a send was answered`,
        taken.map((each) => each.answeredMs),
      )
      say(
        `${signal}, from the decision until it listened`,
        taken.map(({ steps }) => tookMs(steps)),
      )
    },
  )
})

/** Lines of a log are JSON; what is cut off at its beginning is none. */
function stepOf(line: string): { readonly msg: string; readonly atMs: number } | null {
  try {
    const { msg, time } = JSON.parse(line) as { readonly msg: string; readonly time: string }
    return STEPS.includes(msg) ? { msg, atMs: Date.parse(time) } : null
  } catch {
    return null
  }
}

function tookMs(steps: Failover['steps']): number {
  const at = (msg: string | undefined) => steps.find((step) => step.msg === msg)?.atMs ?? Number.NaN
  return at(STEPS.at(-1)) - at(DECIDED)
}

function say(what: string, took: readonly number[]): void {
  const sorted = took.toSorted((a, b) => a - b)
  const median = sorted[Math.floor(sorted.length / 2)]
  process.stdout.write(
    `${what}: ${took.length} times, min ${sorted[0]}, median ${median}, max ${sorted.at(-1)} ms\n`,
  )
}
