import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Child } from '../../bench/child-process.js'
import type { SinkStack } from '../../bench/sink-stack.js'
import { runProgram } from '../../src/cli/program.js'
import type { UserId } from '../../src/domain/ids.js'
import { openEnvironment } from '../../src/store/environment.js'
import { createReader } from '../../src/store/reader.js'
import { httpClient } from '../support/http-client.js'
import { underLoad } from '../support/under-load.js'
import { journalPart, type StandbyPair, startStandbyPair } from './standby-pair.js'

const CALLERS = 8
const TAKES_OVER = { timeout: 60_000 }

/** Two services with a store each, shares of the same wallets, and one user side and quorum signer. */
describe('a standby', () => {
  let pair: StandbyPair
  let stack: SinkStack
  let home: string
  let env: Readonly<Record<string, string>>
  let standbyUrl: string
  const started: Promise<Child>[] = []
  /** Ids by the key of the send. */
  const acknowledged = new Map<string, { readonly caller: number; readonly id: string }>()

  beforeAll(async () => {
    pair = await startStandbyPair(CALLERS)
    ;({ stack, home, env } = pair)
    standbyUrl = await startStandby(home)
  })
  afterAll(() => pair?.stop())

  async function startStandby(at: string, entry?: string): Promise<string> {
    const { url, child } = await pair.startStandby(at, entry)
    started.push(child)
    return url
  }

  /** One send, asked for again under its key of whoever may answer, until it was taken. */
  async function sendsOnce(caller: number, urls: readonly string[]): Promise<void> {
    const key = randomBytes(16).toString('hex')
    const body = { chain_id: stack.chainId, to: `0x${key}00000000`, value: '1' }
    for (let tries = 0; ; tries++) {
      const url = urls[tries % urls.length] ?? ''
      const api = httpClient(url, { 'x-api-key': stack.secrets[caller] ?? '' })
      const reply = await api
        .post('/api/tx/send', body, { 'idempotency-key': key })
        .catch(() => null)
      const id = reply?.json.tx_id
      if ((reply?.status === 200 || reply?.status === 202) && id !== undefined) {
        acknowledged.set(key, { caller, id })
        return
      }
      await sleep(20)
    }
  }

  const callersAt = (urls: readonly string[]) =>
    underLoad(CALLERS, (caller) => sendsOnce(caller, urls))

  /** Each key was sent for once, by its wallet's next nonce, and the log of events has no gap. */
  async function expectWhole(url: string, at: string): Promise<void> {
    const nonces = new Map<number, Set<unknown>>()
    for (const { caller, id } of acknowledged.values()) {
      const api = httpClient(url, { 'x-api-key': stack.secrets[caller] ?? '' })
      const reply = await api.get(`/api/tx/${id}`)
      expect(reply.status).toBe(200)
      const of = nonces.get(caller) ?? new Set()
      expect(of).not.toContain(reply.json.nonce)
      nonces.set(caller, of.add(reply.json.nonce))
    }
    const environment = openEnvironment(join(at, 'service', 'store'))
    try {
      const listed = [...environment.spaces.transactionsByUser.getKeys({})]
      const ids = new Set([...acknowledged.values()].map((sent) => sent.id))
      expect(ids.size).toBe(acknowledged.size)
      expect(listed).toHaveLength(acknowledged.size)
      const users = new Set(listed.map((key) => (key as unknown as [UserId, string])[0]))
      for (const user of users) {
        const events = [
          ...createReader(environment).events.ofUser(user, 0, Number.MAX_SAFE_INTEGER),
        ]
        expect(events.length).toBeGreaterThan(0)
        expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
      }
    } finally {
      await environment.root.close()
    }
  }

  test('follows, says what it is, and takes nothing while its owner lives', async () => {
    const load = callersAt([standbyUrl, stack.baseUrl])
    await expect.poll(() => acknowledged.size, TAKES_OVER).toBeGreaterThan(50)
    await load.stop()
    await expect
      .poll(() => journalPart(standbyUrl), TAKES_OVER)
      .toMatchObject({ http: 503, status: 'down', standby: true, behind: 0 })
    expect((await fetch(`${standbyUrl}/healthz`)).status).toBe(200)
    const api = httpClient(standbyUrl, { 'x-api-key': stack.secrets[0] ?? '' })
    expect((await api.get('/api/limits')).json.error).toMatchObject({
      code: 'WRITES_STOPPED',
      details: { reason: 'standby' },
    })
    expect(await journalPart(stack.baseUrl)).toMatchObject({ http: 200, status: 'up', epoch: 2 })
  })

  test('has no command on its home act for the owner, whose shares others would not fit', async () => {
    let said = ''
    const io = {
      ...{ env: { ...env, COUNTERSIGN_HOME: home }, isInteractive: false },
      out: () => undefined,
      err: (text: string) => {
        said += text
      },
    }
    expect(await runProgram(io, ['custody', 'refresh-shares'])).not.toBe(0)
    expect(said).toContain("this home's wallet service does not sign")
    const load = callersAt([stack.baseUrl])
    const before = acknowledged.size
    await expect.poll(() => acknowledged.size, TAKES_OVER).toBeGreaterThan(before + 10)
    await load.stop()
    expect((await fetch(`${stack.baseUrl}/readyz`)).status).toBe(200)
  })

  test('takes over from one that was killed under load: nothing is lost, and nothing is doubled', async () => {
    const urls = [stack.baseUrl, standbyUrl]
    const load = callersAt(urls)
    const before = acknowledged.size
    await expect.poll(() => acknowledged.size, TAKES_OVER).toBeGreaterThan(before + 50)
    process.kill(stack.pids.service, 'SIGKILL')
    const killedAt = performance.now()
    await expect.poll(async () => (await journalPart(standbyUrl)).http, TAKES_OVER).toBe(200)
    const tookMs = Math.round(performance.now() - killedAt)
    const taken = acknowledged.size
    await expect.poll(() => acknowledged.size, TAKES_OVER).toBeGreaterThan(taken + 50)
    await load.stop()
    process.stdout.write(`from the kill until the standby was ready: ${tookMs} ms\n`)
    expect(await journalPart(standbyUrl)).toMatchObject({ status: 'up', epoch: 3 })
    await expectWhole(standbyUrl, home)
  })

  test('has what the owner hands over when that is told to end', async () => {
    // The one that was killed comes back as the standby of its successor.
    const backUrl = await startStandby(stack.home)
    await expect
      .poll(() => journalPart(backUrl), TAKES_OVER)
      .toMatchObject({ standby: true, behind: 0 })
    const leader = await started[0]
    const load = callersAt([standbyUrl, backUrl])
    const before = acknowledged.size
    await expect.poll(() => acknowledged.size, TAKES_OVER).toBeGreaterThan(before + 20)
    expect(await leader?.stop()).toBe(0)
    const taken = acknowledged.size
    await expect.poll(() => acknowledged.size, TAKES_OVER).toBeGreaterThan(taken + 20)
    await load.stop()
    expect(await journalPart(backUrl)).toMatchObject({ status: 'up', epoch: 4 })
    await expectWhole(backUrl, stack.home)
  })

  test('keeps the journal when it is handed over to a new service of its own home', async () => {
    const supervisedUrl = await startStandby(home, 'dist/src/supervisor/main.js')
    const supervised = started.at(-1)
    await expect
      .poll(() => journalPart(supervisedUrl), TAKES_OVER)
      .toMatchObject({ standby: true, behind: 0 })
    const leader = await started[1]
    expect(await leader?.stop()).toBe(0)
    await expect.poll(async () => (await journalPart(supervisedUrl)).http, TAKES_OVER).toBe(200)
    const otherUrl = await startStandby(stack.home)
    await expect
      .poll(() => journalPart(otherUrl), TAKES_OVER)
      .toMatchObject({ standby: true, behind: 0, epoch: 5 })
    const load = callersAt([supervisedUrl])
    const before = acknowledged.size
    await expect.poll(() => acknowledged.size, TAKES_OVER).toBeGreaterThan(before + 20)
    process.kill((await supervised)?.pid ?? 0, 'SIGHUP')
    // Both are of the same role: the one elsewhere waits for it, and its callers for nobody else.
    await expect
      .poll(() => journalPart(supervisedUrl), TAKES_OVER)
      .toMatchObject({ http: 200, epoch: 6 })
    const taken = acknowledged.size
    await expect.poll(() => acknowledged.size, TAKES_OVER).toBeGreaterThan(taken + 20)
    await load.stop()
    await expect
      .poll(() => journalPart(otherUrl), TAKES_OVER)
      .toMatchObject({ standby: true, behind: 0, epoch: 6 })
    await expectWhole(supervisedUrl, home)
    expect(await (await supervised)?.stop()).toBe(0)
  })
})
