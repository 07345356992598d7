import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { freePort } from '../../bench/free-port.js'
import { runProgram } from '../../src/cli/program.js'
import { openPostgresJournal } from '../../src/journal/postgres-journal.js'
import { isAlive } from '../devnet/support/observer.js'
import { httpClient } from '../support/http-client.js'
import {
  journalPart,
  nodePart,
  type StandbyPair,
  type StartedStandby,
  startStandbyPair,
} from './standby-pair.js'

const CALLERS = 4
const SLOW = { timeout: 60_000 }
const TIMEOUT_MS = 180_000
/** What a caller waits for who asks again, beyond which a failover has gone wrong. */
const ASKED_MAX = 400

/** Two nodes with a link between them: callers ask whichever they like. */
describe('whichever node is asked', () => {
  let pair: StandbyPair
  /** The one that waits at first. */
  let second: StartedStandby
  let url: string
  /** The first, once it was killed and is back. */
  let back: StartedStandby

  beforeAll(async () => {
    pair = await startStandbyPair(CALLERS, true)
    second = await pair.startStandby(pair.home)
    url = second.url
    await vi.waitFor(async () => {
      expect(await journalPart(url)).toMatchObject({ http: 200, status: 'up' })
    }, SLOW)
  }, TIMEOUT_MS)
  afterAll(() => pair?.stop())

  const apiAt = (base: string, caller = 0) =>
    httpClient(base, { 'x-api-key': pair.stack.secrets[caller] ?? '' })
  const consoleAt = (base: string) =>
    httpClient(base, { authorization: `Bearer ${pair.stack.consoleToken}` })
  const send = (to = `0x${randomBytes(20).toString('hex')}`) => ({
    chain_id: pair.stack.chainId,
    to,
    value: '1',
  })

  test('it says that it is ready, by whom, and how far behind it is itself', async () => {
    const ready = await fetch(`${url}/readyz`)
    const { parts } = (await ready.json()) as { parts: Record<string, unknown> }
    const own = await fetch(`${pair.stack.baseUrl}/readyz`)
    const leaders = ((await own.json()) as { parts: Record<string, unknown> }).parts
    expect(Object.keys(parts)).toEqual([...Object.keys(leaders), 'node'])
    expect(parts.node).toMatchObject({ status: 'up', standby: true, epoch: 2 })
  })

  test('a send is one, and each node knows it at once', async () => {
    const body = send()
    const key = { 'idempotency-key': randomBytes(16).toString('hex') }
    const there = await apiAt(url).post('/api/tx/send', body, key)
    expect(there.status, there.text).toBe(200)
    const here = await apiAt(pair.stack.baseUrl).post('/api/tx/send', body, key)
    expect(here.json.tx_id).toBe(there.json.tx_id)
    for (const base of [url, pair.stack.baseUrl]) {
      const view = () => apiAt(base).get(`/api/tx/${there.json.tx_id}`)
      await expect.poll(async () => (await view()).json.status, SLOW).toBe('confirmed')
    }
  })

  test('callers are refused with the same words', async () => {
    const asked: readonly ((base: string) => Promise<{ status: number; json: ReplyJson }>)[] = [
      (base) => httpClient(base, {}).get('/api/limits'),
      (base) => httpClient(base, { 'x-api-key': 'sk_test_none' }).get('/api/limits'),
      (base) => apiAt(base).get('/api/nothing'),
      (base) => apiAt(base).get('/api/tx/tx_none'),
      (base) => apiAt(base).post('/api/tx/send', { ...send(), value: '-1' }),
      (base) => apiAt(base).post('/api/tx/send', { ...send(), chain_id: 5 }),
      (base) => apiAt(base).post('/api/tx/send', { ...send(), to: 'x'.repeat(300 * 1024) }),
      (base) => consoleAt(base).post('/api/v1/agent/keys', {}),
    ]
    for (const ask of asked) {
      const [there, here] = [await ask(url), await ask(pair.stack.baseUrl)]
      const words = ({ json }: typeof here) => ({ ...json.error, request_id: '' })
      expect([there.status, words(there)]).toEqual([here.status, words(here)])
      expect(there.status).toBeGreaterThanOrEqual(400)
    }
  })

  test('a key that is revoked at one is revoked at all', async () => {
    const { sub_wallet_id } = (await apiAt(url).get('/api/wallet/address')).json
    const made = await consoleAt(url).post('/api/v1/agent/keys', {
      ...{ name: 'any', sub_wallet_id, permission: 'trade' },
      ...{ daily_limit_usd: '5', monthly_limit_usd: '5', allowed_chains: [pair.stack.chainId] },
    })
    expect(made.status, made.text).toBe(201)
    const key = { 'x-api-key': String(made.json.secret) }
    for (const base of [url, pair.stack.baseUrl]) {
      expect((await httpClient(base, key).get('/api/limits')).status).toBe(200)
    }
    const path = `/api/v1/agent/keys/${made.json.key_id}/revoke`
    const revoked = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${pair.stack.consoleToken}` },
    })
    expect(revoked.status).toBe(200)
    for (const base of [url, pair.stack.baseUrl]) {
      const refused = await httpClient(base, key).get('/api/limits')
      expect(refused.json.error?.code).toBe('INVALID_KEY')
    }
  })

  test('agents use it by MCP', async () => {
    const client = new Client({ name: 'test', version: '1' })
    const headers = { 'x-api-key': pair.stack.secrets[0] ?? '' }
    const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
      requestInit: { headers },
    })
    await client.connect(transport)
    expect((await client.listTools()).tools.length).toBeGreaterThan(3)
    const limits = await client.callTool({ name: 'get_limits', arguments: {} })
    expect(limits.isError ?? false).toBe(false)
    await client.close()
  })

  test(
    'events follow one another without a gap from any node, across a failover, and so do sends',
    async () => {
      const nodes = [url, pair.stack.baseUrl]
      const events = followEvents(() => nodes)
      const sent: string[] = []
      let isOver = false
      const callers = Array.from({ length: CALLERS }, async (_, caller) => {
        while (!isOver) {
          const key = { 'idempotency-key': randomBytes(16).toString('hex') }
          const body = send()
          for (let asked = 0; asked < ASKED_MAX; asked++) {
            const base = nodes[asked % 2] ?? url
            const reply = await apiAt(base, caller)
              .post('/api/tx/send', body, key)
              .catch(() => null)
            if (reply?.status === 200 || reply?.status === 202) {
              sent.push(String(reply.json.tx_id))
              break
            }
            await sleep(50)
          }
        }
      })
      await expect.poll(() => sent.length, SLOW).toBeGreaterThan(20)
      process.kill(pair.stack.pids.service, 'SIGKILL')
      const before = sent.length
      await expect.poll(() => sent.length, SLOW).toBeGreaterThan(before + 20)
      await expect.poll(async () => (await journalPart(url)).epoch, SLOW).toBe(3)
      // The one that was killed comes back as a node that passes on what it is asked.
      back = await pair.startStandby(pair.stack.home)
      await expect.poll(() => journalPart(back.url), SLOW).toMatchObject({ http: 200 })
      nodes[1] = back.url
      const viaBack = await apiAt(back.url).post('/api/tx/send', send())
      expect(viaBack.status, viaBack.text).toBe(200)
      isOver = true
      await Promise.all(callers)
      expect(new Set(sent).size).toBe(sent.length)
      for (const id of sent) expect(await statusOf(id), id).not.toBeNull()
      const told = async () => {
        const ids = await Promise.all(sent.slice(-8).map((id) => statusOf(id)))
        return ids.every((status) => status === 'confirmed')
      }
      await expect.poll(told, SLOW).toBe(true)
      await expect.poll(() => events.seqs.length, SLOW).toBeGreaterThan(2 * sent.length)
      await events.stop()
      const { seqs } = events
      expect(seqs).toEqual(seqs.map((_, index) => (seqs[0] ?? 0) + index))
    },
    TIMEOUT_MS,
  )

  test(
    'who asks by way of it as the owner freezes hears that the outcome is unknown, and finds it there',
    async () => {
      const { pid } = await second.child
      const key = { 'idempotency-key': randomBytes(16).toString('hex') }
      const body = send()
      // By a connection that stands: whatever is sent on it, the owner may have.
      expect((await apiAt(back.url).get('/api/limits')).status).toBe(200)
      process.kill(pid, 'SIGSTOP')
      try {
        const during = await apiAt(back.url).post('/api/tx/send', body, key)
        expect([during.status, during.json.error?.code]).toEqual([504, 'OUTCOME_UNKNOWN'])
        await vi.waitFor(async () => {
          const after = await apiAt(back.url).post('/api/tx/send', body, key)
          expect(after.status, after.text).toBe(200)
        }, SLOW)
      } finally {
        process.kill(pid, 'SIGCONT')
      }
      expect(await journalPart(back.url)).toMatchObject({ status: 'up', epoch: 4 })
    },
    TIMEOUT_MS,
  )

  test(
    'one that waits and is told to end takes nothing over while it waits for an answer',
    async () => {
      // The one that was frozen ends once it hears of the other: its home has a service that waits once more.
      const { pid: former } = await second.child
      await expect.poll(() => isAlive(former), SLOW).toBe(false)
      const port = await freePort()
      const waiting = spawn(process.execPath, ['dist/src/main.js'], {
        env: {
          PATH: process.env.PATH,
          COUNTERSIGN_MODE: 'dev',
          ...pair.environmentOf(pair.home, port),
        },
        stdio: 'ignore',
      })
      const at = `http://127.0.0.1:${port}`
      try {
        await expect.poll(() => nodePart(at), SLOW).toMatchObject({ http: 200, standby: true })
        process.kill((await back.child).pid, 'SIGSTOP')
        // Unanswered for as long as it waits for it, which is longer than an owner may be silent.
        const asked = apiAt(at)
          .post('/api/tx/send', send())
          .catch(() => null)
        await sleep(500)
        waiting.kill('SIGTERM')
        expect(await once(waiting, 'exit')).toEqual([0, null])
        // Unanswered, or answered before it ended that the outcome is unknown: never carried out here.
        expect([undefined, 'OUTCOME_UNKNOWN']).toContain((await asked)?.code)
      } finally {
        waiting.kill('SIGKILL')
        process.kill((await back.child).pid, 'SIGCONT')
      }
      const journal = await openPostgresJournal([pair.server.url], { warn: () => undefined })
      expect((await journal.readHead(0)).epoch).toBe(4)
      await journal.close()
    },
    TIMEOUT_MS,
  )

  test('what was signed at all nodes is proven by their logs together, and by none alone', async () => {
    const places = [pair.stack.home, pair.home].map((home) => join(home, 'service'))
    const audit = async (...of: readonly string[]) => {
      let out = ''
      const io = {
        ...{ env: {}, isInteractive: false, err: () => undefined },
        out: (text: string) => {
          out += text
        },
      }
      const all = ['--json', 'verify-audit', '--home', pair.stack.home, '--service', ...of]
      const code = await runProgram(io, all)
      return { code, ...(JSON.parse(out) as { approvals: number; problems: unknown[] }) }
    }
    const [first, second, both] = [
      await audit(places[0] ?? ''),
      await audit(places[1] ?? ''),
      await audit(...places),
    ]
    expect(both).toMatchObject({ code: 0, problems: [] })
    expect(both.approvals).toBe(first.approvals + second.approvals)
    expect(Math.min(first.approvals, second.approvals)).toBeGreaterThan(20)
  })

  async function statusOf(id: string): Promise<unknown> {
    for (let caller = 0; caller < CALLERS; caller++) {
      const { status, json } = await apiAt(url, caller).get(`/api/tx/${id}`)
      if (status === 200) return json.status
    }
    return null
  }

  /** The stream of events, at one node after the other: each goes on where the one before it ended. */
  function followEvents(urls: () => readonly string[]) {
    const seqs: number[] = []
    const stopping = new AbortController()
    async function follow(base: string): Promise<void> {
      const answer = await fetch(`${base}/api/v1/agent/events/stream`, {
        headers: {
          authorization: `Bearer ${pair.stack.consoleToken}`,
          'last-event-id': String(seqs.at(-1) ?? 0),
        },
        signal: stopping.signal,
      })
      if (answer.status !== 200 || answer.body === null) return
      let rest = ''
      for await (const piece of answer.body.pipeThrough(new TextDecoderStream())) {
        const lines = (rest + piece).split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines) {
          const seq = line.startsWith('data: ') ? JSON.parse(line.slice(6)).seq : undefined
          if (typeof seq === 'number') seqs.push(seq)
        }
      }
    }
    const following = (async () => {
      for (let turn = 0; !stopping.signal.aborted; turn++) {
        const bases = urls()
        await follow(bases[turn % bases.length] ?? '').catch(() => undefined)
        await sleep(50)
      }
    })()
    return {
      seqs,
      async stop() {
        stopping.abort()
        await following
      },
    }
  }
})

interface ReplyJson {
  readonly error?: { readonly code: string }
}
