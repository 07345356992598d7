import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { mintConsoleToken } from '../../scripts/dev/mint-console-token.js'
import { countersign } from '../custody/command.js'
import { isAlive } from '../devnet/support/observer.js'
import { httpClient } from '../support/http-client.js'
import { type IdentityPair, startIdentityPair, type WaitingIdentity } from './identity-pair.js'

const CALLERS = 4
const SLOW = { timeout: 60_000 }
const TIMEOUT_MS = 240_000
/** Tries of one send, beyond which a failover has gone wrong. */
const ASKED_MAX = 600

/** Two identity providers over one journal, and callers that do not know which one serves. */
describe('an identity provider with a standby', () => {
  let pair: IdentityPair
  let second: WaitingIdentity
  let first: WaitingIdentity
  let sent: string[]
  let isOver: boolean
  let callers: Promise<void>[]

  beforeAll(async () => {
    pair = await startIdentityPair(CALLERS)
    second = await pair.startStandby(pair.home)
    await waits(second)
  }, TIMEOUT_MS)
  afterAll(() => pair?.stop())

  const waits = (one: WaitingIdentity) =>
    vi.waitFor(async () => {
      expect(await one.gauges()).toMatchObject({ epoch: 0, behind: 0, hindered: 0 })
    }, SLOW)
  const apiOf = (caller = 0) =>
    httpClient(pair.stack.baseUrl, { 'x-api-key': pair.stack.secrets[caller] ?? '' })
  const consoleApi = () =>
    httpClient(pair.stack.baseUrl, { authorization: `Bearer ${pair.stack.consoleToken}` })
  const call = () => ({
    ...{ chain_id: pair.stack.chainId, value: '1' },
    to: `0x${randomBytes(20).toString('hex')}`,
  })

  /** Each call is asked for until it was taken, under one key. */
  function beginCalling(): void {
    sent = []
    isOver = false
    callers = Array.from({ length: CALLERS }, async (_, caller) => {
      while (!isOver) {
        const key = { 'idempotency-key': randomBytes(16).toString('hex') }
        const body = call()
        for (let asked = 0; ; asked++) {
          if (asked > ASKED_MAX) throw new Error('no failover')
          const { status, json } = await apiOf(caller).post('/api/tx/send', body, key)
          if (status === 200 || status === 202) {
            sent.push(String(json.tx_id))
            break
          }
          await sleep(100)
        }
      }
    })
  }

  async function goOn(more: number): Promise<void> {
    const before = sent.length
    await expect.poll(() => sent.length, SLOW).toBeGreaterThan(before + more)
  }

  /** What was taken ends confirmed, each once. */
  async function endCalling(): Promise<void> {
    isOver = true
    await Promise.all(callers)
    expect(new Set(sent).size).toBe(sent.length)
    for (const id of sent) {
      const caller = async () => {
        const views = await Promise.all(
          pair.stack.secrets.map((_, at) => apiOf(at).get(`/api/tx/${id}`)),
        )
        return views.find(({ status }) => status === 200)?.json.status
      }
      await expect.poll(caller, { ...SLOW, message: id }).toBe('confirmed')
    }
  }

  async function audit(home: string) {
    const identity = join(home, 'identity-provider')
    const args = ['verify-audit', '--json', '--identity', identity]
    const { stdout, stderr } = await countersign(pair.stack.home, args)
    if (stdout === '') throw new Error(stderr)
    return JSON.parse(stdout) as { approvals: number; problems: unknown[] }
  }

  test(
    'of one that is killed under load the standby goes on, and has all that anybody was told',
    async () => {
      const { sub_wallet_id } = (await apiOf().get('/api/wallet/address')).json
      const made = await consoleApi().post('/api/v1/agent/keys', {
        ...{ name: 'before', sub_wallet_id, permission: 'trade' },
        ...{ daily_limit_usd: '5', monthly_limit_usd: '5', allowed_chains: [pair.stack.chainId] },
      })
      expect(made.status, made.text).toBe(201)
      const gone = await consoleApi().post('/api/v1/agent/keys', {
        ...{ name: 'gone', sub_wallet_id, permission: 'trade' },
        ...{ daily_limit_usd: '5', monthly_limit_usd: '5', allowed_chains: [pair.stack.chainId] },
      })
      const path = `/api/v1/agent/keys/${gone.json.key_id}/revoke`
      const revoked = await fetch(`${pair.stack.baseUrl}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${pair.stack.consoleToken}` },
      })
      expect(revoked.status).toBe(200)
      beginCalling()
      await goOn(40)
      process.kill(pair.stack.pids.identity, 'SIGKILL')
      await goOn(40)
      await endCalling()
      expect(await second.gauges()).toMatchObject({ epoch: 2 })
      // What people granted and took away there holds here.
      const key = { 'x-api-key': String(made.json.secret) }
      const api = httpClient(pair.stack.baseUrl, key)
      const reply = await api.post('/api/tx/send', call())
      expect(reply.status, reply.text).toBe(200)
      const { approvals, problems } = await audit(pair.home)
      expect(problems).toEqual([])
      expect(approvals).toBeGreaterThan(sent.length)
    },
    TIMEOUT_MS,
  )

  test(
    'one that comes back waits for the other, and goes on once that one is told to end',
    async () => {
      first = await pair.startStandby(pair.stack.home)
      await waits(first)
      beginCalling()
      await goOn(20)
      await (await second.child).stop()
      await goOn(40)
      await endCalling()
      expect(await first.gauges()).toMatchObject({ epoch: 3 })
      const { problems } = await audit(pair.stack.home)
      expect(problems).toEqual([])
    },
    TIMEOUT_MS,
  )

  test(
    'one that stands still is taken over from, and ends once it goes on',
    async () => {
      second = await pair.startStandby(pair.home)
      await waits(second)
      beginCalling()
      await goOn(20)
      const { pid } = await first.child
      process.kill(pid, 'SIGSTOP')
      try {
        await goOn(40)
      } finally {
        process.kill(pid, 'SIGCONT')
      }
      await expect.poll(() => isAlive(pid), SLOW).toBe(false)
      await goOn(20)
      await endCalling()
      expect(await second.gauges()).toMatchObject({ epoch: 4 })
      expect((await audit(pair.home)).problems).toEqual([])
    },
    TIMEOUT_MS,
  )

  test(
    'people sign in wherever it is, and who was let in at the one is known to the other',
    async () => {
      const invite = (home: string, command: string, email: string) =>
        countersign(home, ['--json', 'users', command, email])
      const { issuer } = JSON.parse(
        readFileSync(join(pair.home, 'identity-provider', 'issuer.json'), 'utf8'),
      ) as { issuer: string }
      const token = await mintConsoleToken({ issuer, ...pair.stack.user })
      const keys = await fetch(`${pair.stack.baseUrl}/api/v1/agent/keys`, {
        headers: { authorization: `Bearer ${token}` },
      })
      expect(keys.status).toBe(200)
      expect((await invite(pair.home, 'create', 'new@example.test')).code).toBe(0)
      first = await pair.startStandby(pair.stack.home)
      await waits(first)
      const there = await invite(pair.stack.home, 'create', 'late@example.test')
      expect([there.code, there.stderr]).toEqual([1, expect.stringContaining('is a standby')])
      // Be it that a code of that person is there already, of the owner's.
      const anew = await invite(pair.stack.home, 'invite-again', 'new@example.test')
      expect([anew.code, anew.stderr]).toEqual([1, expect.stringContaining('is a standby')])
      await (await second.child).stop()
      await first.child
      expect((await invite(pair.stack.home, 'invite-again', 'new@example.test')).code).toBe(0)
      expect((await invite(pair.stack.home, 'invite-again', 'late@example.test')).code).toBe(1)
      expect(await mintConsoleToken({ issuer, ...pair.stack.user })).toBeTruthy()
    },
    TIMEOUT_MS,
  )

  test(
    'while its journal does not answer nothing is signed, and all goes on once it does',
    async () => {
      const body = call()
      const key = { 'idempotency-key': randomBytes(16).toString('hex') }
      const before = (await apiOf().post('/api/tx/send', call())).status
      pair.server.freeze()
      try {
        const during = await apiOf().post('/api/tx/send', body, key)
        expect([before, during.status, during.json.error?.code]).toEqual([
          ...[200, 503, 'COSIGNER_UNAVAILABLE'],
        ])
        expect((await apiOf().get('/api/limits')).status).toBe(200)
      } finally {
        pair.server.thaw()
      }
      await vi.waitFor(async () => {
        const after = await apiOf().post('/api/tx/send', body, key)
        expect(after.status, after.text).toBe(200)
      }, SLOW)
      expect((await audit(pair.stack.home)).problems).toEqual([])
    },
    TIMEOUT_MS,
  )
})
