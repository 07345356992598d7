import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { openPostgresJournal } from '../../src/journal/postgres-journal.js'
import { countersign, countersignOk } from '../custody/command.js'
import { httpClient } from '../support/http-client.js'
import { type CellNodes, type CellUser, startCellNodes } from './cell-nodes.js'
import { nodePart } from './standby-pair.js'

const TIMEOUT_MS = 240_000
const SLOW = { timeout: 60_000 }
/** What a caller waits for who asks again. */
const ASKED_MAX = 600

interface Purse {
  readonly user: CellUser
  readonly secret: string
  readonly keyId: string
}

/** Two owners at once, each with users of its own, and callers that ask whichever node they like. */
describe('users that are dealt out to cells', () => {
  let nodes: CellNodes
  const purses: Purse[] = []
  const urls = () => [nodes.firstUrl, nodes.leader.url, nodes.standby.url]
  const api = (url: string, { secret }: Purse) => httpClient(url, { 'x-api-key': secret })
  const send = () => ({
    chain_id: nodes.stack.chainId,
    to: `0x${randomBytes(20).toString('hex')}`,
    value: '1',
  })

  beforeAll(async () => {
    nodes = await startCellNodes()
    await vi.waitFor(async () => {
      const waits = { http: 200, standby: true, behind: 0, loaded: true }
      expect(await nodePart(nodes.standby.url)).toMatchObject(waits)
    }, SLOW)
  }, TIMEOUT_MS)
  afterAll(() => nodes?.stop(), TIMEOUT_MS)

  async function purseOf(user: CellUser, url: string): Promise<Purse> {
    const leader = user.console(url)
    const wallet = await leader.post('/wallets', { name: 'purse' })
    expect(wallet.status, wallet.text).toBe(201)
    const key = await leader.post('/keys', {
      ...{ name: 'purse', sub_wallet_id: wallet.json.sub_wallet_id, permission: 'trade' },
      ...{ daily_limit_usd: '1000', monthly_limit_usd: '1000' },
    })
    expect(key.status, key.text).toBe(201)
    return { user, secret: String(key.json.secret), keyId: String(key.json.key_id) }
  }

  /** Until it is acknowledged. */
  async function sendUntilKnown(purse: Purse, at: () => readonly string[]): Promise<string> {
    const key = { 'idempotency-key': randomBytes(16).toString('hex') }
    const body = send()
    const said: string[] = []
    for (let asked = 0; asked < ASKED_MAX; asked++) {
      const url = at()[asked % at().length] ?? ''
      const reply = await api(url, purse)
        .post('/api/tx/send', body, key)
        .catch(() => null)
      if (reply?.status === 200 || reply?.status === 202) return String(reply.json.tx_id)
      said.push(reply?.json.error?.code ?? 'none')
      await sleep(50)
    }
    throw new Error(`never acknowledged: ${said.slice(-5).join(', ')}`)
  }

  test(
    'a user of either cell is made and served at each node',
    async () => {
      for (const user of nodes.users) {
        for (const url of urls()) purses.push(await purseOf(user, url))
      }
      for (const purse of purses) {
        const body = send()
        const key = { 'idempotency-key': randomBytes(16).toString('hex') }
        const ids = new Set<unknown>()
        for (const url of urls()) {
          const sent = await api(url, purse).post('/api/tx/send', body, key)
          expect(sent.status, sent.text).toBe(200)
          ids.add(sent.json.tx_id)
        }
        expect(ids.size).toBe(1)
        const [id] = ids
        for (const url of urls()) {
          const status = async () => (await api(url, purse).get(`/api/tx/${id}`)).json.status
          await expect.poll(status, SLOW).toBe('confirmed')
        }
      }
    },
    TIMEOUT_MS,
  )

  test('each user is in the journal of one cell alone', async () => {
    const journal = await openPostgresJournal([nodes.server.url], { warn: () => undefined })
    for (const cell of [0, 1]) {
      const entries = await journal.read(cell, 0, 1_000_000_000)
      const text = Buffer.concat(entries.map(({ body }) => Buffer.from(body))).toString('latin1')
      for (const { user, keyId } of purses) {
        expect(text.includes(keyId), `${user.email} in ${cell}`).toBe(user.cell === cell)
      }
    }
    await journal.close()
    for (const [home, env, cell] of [
      [nodes.leader.home, nodes.leader.env, 1],
      [nodes.stack.home, { ...nodes.leader.env, ...(await envOfFirst()) }, 0],
    ] as const) {
      const { stdout } = await countersign(home, ['cluster', 'status', '--json'], env)
      expect(JSON.parse(stdout)).toMatchObject({ cell, epoch: 1 })
    }
  })

  async function envOfFirst() {
    const file = nodes.leader.env.COUNTERSIGN_JOURNAL_FILE ?? ''
    return { COUNTERSIGN_JOURNAL_FILE: file.replace('journal-1', 'journal-0') }
  }

  test('callers are refused with the same words at each node', async () => {
    const [mine] = purses
    if (mine === undefined) throw new Error('no purse')
    for (const purse of purses) {
      const asked: readonly ((url: string) => Promise<{ status: number; json: ReplyJson }>)[] = [
        (url) => api(url, { ...purse, secret: `sk_test_${'x'.repeat(32)}` }).get('/api/limits'),
        (url) => api(url, { ...purse, secret: 'sk_test_none' }).get('/api/limits'),
        (url) => api(url, purse).get('/api/tx/tx_none'),
        (url) => api(url, purse).post('/api/tx/send', { ...send(), value: '-1' }),
        (url) => purse.user.console(url).post('/keys', {}),
        (url) => httpClient(url, { authorization: 'Bearer x.e30.y' }).get('/api/v1/agent/wallets'),
      ]
      for (const ask of asked) {
        const words = await Promise.all(
          urls().map(async (url) => {
            const { status, json } = await ask(url)
            return JSON.stringify([status, { ...json.error, request_id: '' }])
          }),
        )
        expect(new Set(words).size, words.join('\n')).toBe(1)
      }
    }
  })

  test('agents use either cell by MCP at any node', async () => {
    for (const purse of purses.slice(0, 1).concat(purses.slice(-1))) {
      for (const url of urls()) {
        const client = new Client({ name: 'test', version: '1' })
        const headers = { 'x-api-key': purse.secret }
        const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
          requestInit: { headers },
        })
        await client.connect(transport)
        const limits = await client.callTool({ name: 'get_limits', arguments: {} })
        expect(limits.isError ?? false).toBe(false)
        await client.close()
      }
    }
  })

  test(
    'the owner of one cell is killed under load: the other does not feel it, and the standby goes on',
    async () => {
      const ofCell = (cell: number) => purses.filter(({ user }) => user.cell === cell)
      const unanswered: string[] = []
      const sent = new Map<string, Purse>()
      let isOver = false
      // Whoever asks one cell hears of nothing but its own: asked once each, and answered.
      const steady = ofCell(0).map(async (purse) => {
        while (!isOver) {
          const reply = await api(nodes.firstUrl, purse).post('/api/tx/send', send())
          if (reply.status !== 200) unanswered.push(reply.text)
          else sent.set(String(reply.json.tx_id), purse)
        }
      })
      const hurt = ofCell(1).map(async (purse) => {
        while (!isOver) sent.set(await sendUntilKnown(purse, () => urls()), purse)
      })
      await sleep(1_000)
      await nodes.leader.kill()
      const [one] = ofCell(1)
      if (one === undefined) throw new Error('no purse')
      const after = await sendUntilKnown(one, () => [nodes.firstUrl])
      await sleep(1_000)
      isOver = true
      await Promise.all([...steady, ...hurt])
      expect(unanswered).toEqual([])
      sent.set(after, one)
      await nodes.leader.start('standby')
      for (const [id, purse] of sent) {
        const status = async () => (await api(nodes.firstUrl, purse).get(`/api/tx/${id}`)).json
        await expect.poll(async () => (await status()).status, SLOW).toBe('confirmed')
      }
      for (const purse of purses) {
        const listed = await purse.user.console(nodes.leader.url).get('/transactions?limit=1')
        expect(listed.status, listed.text).toBe(200)
      }
    },
    TIMEOUT_MS,
  )

  test(
    'an owner whose quorum signer stands still leaves its users to a node whose own answers',
    async () => {
      const [purse] = purses.filter(({ user }) => user.cell === 1)
      if (purse === undefined) throw new Error('no purse')
      const waits = { standby: true, behind: 0, loaded: true }
      await expect.poll(() => nodePart(nodes.leader.url), SLOW).toMatchObject(waits)
      process.kill(nodes.standby.quorumPid, 'SIGSTOP')
      try {
        await sendUntilKnown(purse, () => [nodes.firstUrl])
        expect(await leaderOf(1)).toContain(`:${new URL(nodes.leader.url).port} `)
      } finally {
        process.kill(nodes.standby.quorumPid, 'SIGCONT')
      }
    },
    TIMEOUT_MS,
  )

  test('what was signed in all cells is proven by the logs of their nodes together', async () => {
    const homes = [nodes.stack.home, nodes.leader.home, nodes.standby.home]
    const audit = async (of: readonly string[]) => {
      const logs = of.map((home) => join(home, 'service'))
      const args = ['--json', 'verify-audit', '--service', ...logs]
      const { code, stdout } = await countersign(nodes.stack.home, args)
      return { code, ...(JSON.parse(stdout) as { approvals: number; problems: unknown[] }) }
    }
    const each = await Promise.all(homes.map((home) => audit([home])))
    const all = await audit(homes)
    expect(all).toMatchObject({ code: 0, problems: [] })
    expect(all.approvals).toBe(each.reduce((sum, { approvals }) => sum + approvals, 0))
    expect(Math.min(...each.map(({ approvals }) => approvals))).toBeGreaterThan(0)
  })

  test(
    'a node that is drained leaves the users of its cell to who waits for them, and no others',
    async () => {
      const [purse] = purses.filter(({ user }) => user.cell === 1)
      if (purse === undefined) throw new Error('no purse')
      await nodes.standby.start('standby')
      const waits = { standby: true, behind: 0, loaded: true }
      await expect.poll(() => nodePart(nodes.standby.url), SLOW).toMatchObject(waits)
      const other = await leaderOf(0)
      const { home, env } = nodes.leader
      const said = await countersignOk(home, ['cluster', 'drain', '--json'], env)
      const at = (url: string) => expect.stringContaining(`:${new URL(url).port} `)
      expect(JSON.parse(said)).toMatchObject({
        ...{ drained: true, from: at(nodes.leader.url), owner: at(nodes.standby.url) },
      })
      await sendUntilKnown(purse, () => [nodes.firstUrl])
      expect([await leaderOf(0), await leaderOf(1)]).toEqual([other, at(nodes.standby.url)])
    },
    TIMEOUT_MS,
  )

  async function leaderOf(cell: number): Promise<string> {
    const journal = await openPostgresJournal([nodes.server.url], { warn: () => undefined })
    const { owner: leader } = await journal.readHead(cell)
    await journal.close()
    return leader?.node ?? ''
  }

  test('a store is not made another cell’s', async () => {
    await nodes.leader.kill()
    const env = { ...nodes.leader.env, ...(await envOfFirst()) }
    const { code, stderr } = await countersign(nodes.leader.home, ['cluster', 'import'], env)
    expect(code).not.toBe(0)
    expect(stderr).toMatch(/journal/)
    await countersignOk(nodes.leader.home, ['cluster', 'status'], nodes.leader.env)
  })
})

interface ReplyJson {
  readonly error?: { readonly code: string }
}
