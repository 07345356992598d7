import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { countersign } from '../custody/command.js'
import { isAlive } from '../devnet/support/observer.js'
import { httpClient } from '../support/http-client.js'
import { type IdentityPair, startIdentityPair } from './identity-pair.js'

/** Of each kind; `npm run test:long -- journal-takeover` does ten. */
const TAKE_OVERS = Number(process.env.TAKE_OVERS ?? 1)
const SLOW = { timeout: 60_000 }
const TAKE_OVERS_MS_MAX = 900_000
/** An owner says twice a second that it lives: it ends at any moment between. */
const HEARTBEAT_MS = 500

interface Owner {
  readonly home: string
  readonly pid: number
}

/** How often the identity provider may change homes: how long it takes is printed, as the machine's. */
describe('a failover of the identity provider', () => {
  let pair: IdentityPair
  let leader: Owner

  beforeAll(async () => {
    pair = await startIdentityPair(1)
    leader = { home: pair.stack.home, pid: pair.stack.pids.identity }
  })
  afterAll(() => pair?.stop())

  async function statusOfSend(): Promise<number> {
    const api = httpClient(pair.stack.baseUrl, { 'x-api-key': pair.stack.secrets[0] ?? '' })
    const to = `0x${randomBytes(20).toString('hex')}`
    const body = { chain_id: pair.stack.chainId, to, value: '1' }
    return (await api.post('/api/tx/send', body)).status
  }

  /** @returns milliseconds until a send was answered */
  async function failover(signal: NodeJS.Signals): Promise<number> {
    const home = leader.home === pair.home ? pair.stack.home : pair.home
    const { child, gauges } = await pair.startStandby(home)
    await vi.waitFor(async () => {
      expect(await gauges()).toMatchObject({ epoch: 0, behind: 0, hindered: 0 })
    }, SLOW)
    await expect.poll(statusOfSend, SLOW).toBe(200)
    await sleep(HEARTBEAT_MS * (1 + Math.random()))
    const endedAt = performance.now()
    process.kill(leader.pid, signal)
    while ((await statusOfSend()) !== 200) await sleep(10)
    const answeredMs = Math.round(performance.now() - endedAt)
    if (signal === 'SIGSTOP') {
      process.kill(leader.pid, 'SIGCONT')
      await expect.poll(() => isAlive(leader.pid), SLOW).toBe(false)
    }
    leader = { home, pid: (await child).pid }
    return answeredMs
  }

  test.each(['SIGKILL', 'SIGTERM', 'SIGSTOP'] as const)(
    'after a %s leaves the other home signing, and a log that has all of it',
    { timeout: TAKE_OVERS_MS_MAX },
    async (signal) => {
      const took: number[] = []
      while (took.length < TAKE_OVERS) took.push(await failover(signal))
      const args = ['verify-audit', '--json', '--identity', join(leader.home, 'identity-provider')]
      const { stdout } = await countersign(pair.stack.home, args)
      expect(JSON.parse(stdout)).toMatchObject({ problems: [] })
      const sorted = took.toSorted((a, b) => a - b)
      const median = sorted[Math.floor(sorted.length / 2)]
      process.stdout.write(
        `identity provider, ${signal}, until a send was answered: ${took.length} times, min ${sorted[0]}, median ${median}, max ${sorted.at(-1)} ms\n`,
      )
    },
  )
})
