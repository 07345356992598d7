import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Child, numberOf, startChild, startWaiting } from '../../bench/child-process.js'
import { SINK_CHAIN, sinkChainsFile } from '../../bench/sink-chains.js'
import { issuerOf, startChainSink } from '../../bench/sink-stack.js'
import { mintConsoleToken } from '../../scripts/dev/mint-console-token.js'
import { oracleListName } from '../../src/config/sanctions-oracles.js'
import { grantMessage } from '../../src/custody/authorizers/grant-statement.js'
import { createUser } from '../../src/identity-provider/login/create-user.js'
import { importList } from '../../src/screening/lists/import-list.js'
import { ListStore } from '../../src/screening/lists/list-store.js'
import { connectAuthorizers } from '../custody/authorizer-client.js'
import { provisionLive } from '../custody/live-installation.js'
import { httpClient } from '../support/http-client.js'
import { freePort } from '../support/ports.js'
import { createPostgres, type PostgresServer } from '../support/postgres-server.js'
import { journalPart } from './standby-pair.js'

const WAITS = { timeout: 60_000 }
const USER = { email: 'grace@example.test', password: 'correct horse battery staple' }
const LISTED = '0x8f3a1c5e7b924d60a1b8c37e5f2d9046bc71e8a5'
const AGE_SECONDS_MAX = 86_400
const ORACLE = { address: `0x${'0c'.repeat(20)}`, from_block: 0, max_age_seconds: AGE_SECONDS_MAX }
const FILE_KEYS = { COUNTERSIGN_ALLOW_FILE_KEYS: '1' }

/** Live, where a list past its age stops every write. */
describe('a standby whose mirror of a sanctions oracle is past its age', () => {
  let directory: string
  let server: PostgresServer
  let leader: Child
  let url: string
  let secret: string
  const running: { kill(): Promise<void> }[] = []

  beforeAll(async () => {
    server = await createPostgres()
    directory = mkdtempSync(join(tmpdir(), 'cs-screening-'))
    const [home, second] = [join(directory, 'first'), join(directory, 'second')]
    const sink = await startChainSink()
    running.push(sink)
    const rpcUrl = `http://127.0.0.1:${numberOf(sink, 'port')}`
    await provisionLive(home, rpcUrl, { env: FILE_KEYS, options: () => [] })
    const [chain] = sinkChainsFile(rpcUrl).chains
    const chains = [{ ...chain, sanctions_oracle: ORACLE }]
    writeFileSync(join(home, 'chains.json'), JSON.stringify({ chains }))
    await importListed(home)
    const [leaderUrl, leaderEnv] = await startLeader(home)
    secret = await issueKey(home, leaderUrl)
    await waitedSinceLongAgo(home, second)
    const port = await freePort()
    url = `http://127.0.0.1:${port}`
    const role = { COUNTERSIGN_JOURNAL_ROLE: 'standby', PORT: String(port) }
    const env = { ...leaderEnv, ...role, COUNTERSIGN_HOME: second }
    running.push(startWaiting('dist/src/main.js', env))
  }, 120_000)
  afterAll(async () => {
    for (const each of running.toReversed()) await each.kill()
    await server?.remove()
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
  })

  async function importListed(home: string): Promise<void> {
    const file = join(home, 'listed.txt')
    writeFileSync(file, `${LISTED}\n`)
    const storeDirectory = join(home, 'service', 'lists')
    const context = { storeDirectory, protectedAddresses: [] }
    await importList({ source: 'plain', name: 'own', file }, context)
  }

  async function startLeader(home: string) {
    await createUser(join(home, 'identity-provider'), USER.email, USER.password)
    const live = { ...FILE_KEYS, COUNTERSIGN_HOME: home, COUNTERSIGN_MODE: 'live' }
    const identity = { ...live, IDENTITY_PORT: '0' }
    running.push(await startChild('dist/src/identity-provider/main.js', identity))
    running.push(await startChild('dist/src/quorum-signer/main.js', live))
    const journalFile = join(directory, 'journal.json')
    writeFileSync(journalFile, JSON.stringify({ postgres: [server.url] }), { mode: 0o600 })
    const port = await freePort()
    const env = {
      ...{ ...live, PORT: String(port), IDENTITY_ISSUER: issuerOf(home) },
      ...{ COUNTERSIGN_JOURNAL_FILE: journalFile, COUNTERSIGN_WORKERS: '2' },
    }
    leader = await startChild('dist/src/main.js', env)
    running.push(leader)
    const at = `http://127.0.0.1:${port}`
    await vi.waitFor(async () => expect((await journalPart(at)).http).toBe(200), WAITS)
    return [at, env] as const
  }

  /** Of a wallet of its own, confirmed as a live one has to be. */
  async function issueKey(home: string, at: string): Promise<string> {
    const authorizers = await connectAuthorizers(home, USER, { rpId: '', origin: '' })
    const authorizer = await authorizers.addKey()
    const token = await mintConsoleToken({ issuer: issuerOf(home), ...USER })
    const api = httpClient(`${at}/api/v1/agent`, { authorization: `Bearer ${token}` })
    const wallet = await api.post('/wallets', { name: 'treasury' })
    const asked = {
      ...{ name: 'agent', sub_wallet_id: wallet.json.sub_wallet_id, permission: 'trade' },
      ...{ daily_limit_usd: '1000', monthly_limit_usd: '10000' },
    }
    const { json } = await api.post('/keys', asked)
    const details = json.error?.details as Record<string, string> | undefined
    const { authorization_id, grant, challenge } = details ?? {}
    const message = grantMessage(Buffer.from(grant ?? '', 'base64url'))
    const proof = await authorizer.prove(challenge ?? '', message)
    const issued = await api.post('/keys', {
      ...asked,
      authorization: { authorization_id, ...proof },
    })
    expect(issued.status).toBe(201)
    return issued.json.secret ?? ''
  }

  /** A node made of the owner's, as it is once it has followed no oracle for two days. */
  async function waitedSinceLongAgo(home: string, second: string): Promise<void> {
    const filter = (path: string) => !/\/store$|\.lock$|\.new$/.test(path)
    for (const part of ['service', 'registry.json', 'chains.json']) {
      cpSync(join(home, part), join(second, part), { recursive: true, filter })
    }
    symlinkSync(join(home, 'run'), join(second, 'run'))
    const longAgo = new Date(Date.now() - 2 * AGE_SECONDS_MAX * 1_000).toISOString()
    const store = new ListStore(join(second, 'service', 'lists'), () => false)
    await store.markChecked(oracleListName(SINK_CHAIN), longAgo)
  }

  const send = (to: string) =>
    httpClient(url, { 'x-api-key': secret }).post('/api/tx/send', {
      chain_id: SINK_CHAIN,
      to,
      value: '1',
    })

  test('has it current while it waits, and screens from its first answer on', async () => {
    const current = { standby: true, behind: 0, loaded: true, lists: { status: 'up' } }
    await expect.poll(() => journalPart(url), WAITS).toMatchObject(current)
    await leader.kill()
    const seen: unknown[] = []
    const status = async () => {
      const { json } = await send(`0x${'de'.repeat(20)}`).catch(() => ({ json: {} as never }))
      seen.push(json.error?.code)
      return json.status
    }
    await expect.poll(status, { ...WAITS, interval: 20 }).toBe('broadcast')
    expect(seen).not.toContain('SCREENING_UNAVAILABLE')
    expect((await send(LISTED)).json.error).toMatchObject({ code: 'ADDRESS_BLOCKED' })
  })
})
