import { randomBytes } from 'node:crypto'
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Child, startChild } from '../../bench/child-process.js'
import { freePort } from '../../bench/free-port.js'
import { issuerOf, type SinkStack, startSinkStack } from '../../bench/sink-stack.js'
import { runProgram } from '../../src/cli/program.js'
import { userSideLayout } from '../../src/custody/domain-keys/layout.js'
import { openEvidenceReader } from '../../src/custody/evidence/evidence-log.js'
import { type HttpClient, httpClient, type Reply } from '../support/http-client.js'
import { createPostgres, type PostgresServer } from '../support/postgres-server.js'

const CALLERS = 8
const SETTLES_TRIES_MAX = 200
/** A caller that waits for longer waits for the journal. */
const ANSWERS_MS = 500
/** What a service signs at its start is signed. */
const AT_REST_MS = 3_000

/** A send that a caller was told of. */
interface Acknowledged {
  readonly caller: number
  readonly id: string
}

/** A whole service whose commits go to a Postgres first. */
describe('a service with a journal', () => {
  let server: PostgresServer
  let directory: string
  let stack: SinkStack
  let second: Child | undefined
  let env: Readonly<Record<string, string>>
  const acknowledged: Acknowledged[] = []

  beforeAll(async () => {
    server = await createPostgres()
    directory = mkdtempSync(join(tmpdir(), 'cs-journal-'))
    const file = join(directory, 'journal.json')
    writeFileSync(file, JSON.stringify({ postgres: [server.url] }), { mode: 0o600 })
    env = { COUNTERSIGN_JOURNAL_FILE: file, COUNTERSIGN_WORKERS: '2' }
    stack = await startSinkStack({ wallets: CALLERS, env })
  })
  afterAll(async () => {
    await second?.kill()
    await stack?.stop()
    await server?.remove()
    rmSync(directory, { recursive: true, force: true })
  })

  const client = (caller: number, baseUrl = stack.baseUrl) =>
    httpClient(baseUrl, { 'x-api-key': stack.secrets[caller] ?? '' })
  const send = (api: HttpClient) =>
    api.post('/api/tx/send', {
      chain_id: stack.chainId,
      to: `0x${randomBytes(20).toString('hex')}`,
      value: '1',
    })

  /** Each caller sends until told to stop; what fails on the way was not acknowledged. */
  function underLoad(): { stop(): Promise<void> } {
    let isOver = false
    const callers = Array.from({ length: CALLERS }, async (_, caller) => {
      while (!isOver) {
        const reply = await send(client(caller)).catch(() => null)
        const id = reply?.status === 200 ? reply.json.tx_id : undefined
        if (typeof id === 'string') acknowledged.push({ caller, id })
        else await sleep(20)
      }
    })
    return {
      async stop() {
        isOver = true
        await Promise.all(callers)
      },
    }
  }

  /** A command of the operator's, on the home of the stack. */
  async function cluster(...args: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
    return clusterAt(stack.home, ...args)
  }

  async function clusterAt(
    home: string,
    ...args: readonly string[]
  ): Promise<Readonly<Record<string, unknown>>> {
    let out = ''
    const io = {
      env: { ...env, COUNTERSIGN_HOME: home },
      out: (text: string) => {
        out += text
      },
      err: () => undefined,
      isInteractive: false,
    }
    expect(await runProgram(io, ['--json', 'cluster', ...args])).toBe(0)
    return JSON.parse(out) as Readonly<Record<string, unknown>>
  }

  /** What was acknowledged and the service does not know. */
  async function unknownAt(baseUrl: string): Promise<Acknowledged[]> {
    const missing: Acknowledged[] = []
    await Promise.all(
      Array.from({ length: CALLERS }, async (_, caller) => {
        const api = client(caller, baseUrl)
        for (const sent of acknowledged) {
          if (sent.caller !== caller) continue
          if ((await api.get(`/api/tx/${sent.id}`)).status !== 200) missing.push(sent)
        }
      }),
    )
    return missing
  }

  /** Entries of what the user side approved: it writes each down before the approval leaves. */
  async function approvals(): Promise<number> {
    const log = openEvidenceReader(userSideLayout(stack.home).evidence)
    const count = [...log.entries()].length
    await log.close()
    return count
  }

  async function approvalsAtRest(): Promise<number> {
    for (;;) {
      const before = await approvals()
      await sleep(AT_REST_MS)
      if ((await approvals()) === before) return before
    }
  }

  async function sendsAgain(caller: number, baseUrl = stack.baseUrl): Promise<string> {
    let last = ''
    for (let tries = 0; tries < SETTLES_TRIES_MAX; tries++) {
      const { status, text, json } = await send(client(caller, baseUrl))
      if (status === 200) {
        const id = String(json.tx_id)
        acknowledged.push({ caller, id })
        return id
      }
      last = text
      await sleep(100)
    }
    throw new Error(`no send was taken: ${last}`)
  }

  test('comes back with every acknowledged send when its store is gone', async () => {
    const load = underLoad()
    await expect.poll(() => acknowledged.length).toBeGreaterThan(100)
    const store = join(stack.home, 'service', 'store')
    await stack.restartService(async () => {
      expect(existsSync(join(store, 'data.mdb'))).toBe(true)
      rmSync(store, { recursive: true })
    })
    const before = acknowledged.length
    await expect.poll(() => acknowledged.length).toBeGreaterThan(before + 50)
    await load.stop()
    expect(await unknownAt(stack.baseUrl)).toEqual([])
  })

  test('comes back with every acknowledged send when its store is an earlier one', async () => {
    const store = join(stack.home, 'service', 'store')
    const copy = join(directory, 'earlier')
    await stack.restartService(async () => cpSync(store, copy, { recursive: true }))
    const load = underLoad()
    const before = acknowledged.length
    await expect.poll(() => acknowledged.length).toBeGreaterThan(before + 50)
    await stack.restartService(async () => {
      rmSync(store, { recursive: true })
      cpSync(copy, store, { recursive: true })
      // Nobody can tell it from a service that another one took over from.
      const refused = startChild('dist/src/main.js', {
        ...{ ...env, PORT: String(await freePort()), IDENTITY_ISSUER: issuerOf(stack.home) },
        COUNTERSIGN_HOME: stack.home,
      })
      await expect(refused).rejects.toThrow(/has acquired this store's journal/)
      const { epoch } = await cluster('status')
      const status = await cluster('status')
      expect(status).toMatchObject({ taken_over: true })
      expect(Number(status.store_epoch)).toBeLessThan(Number(epoch))
      expect(await cluster('take', '--yes')).toMatchObject({ takes_from: epoch })
    })
    expect(await cluster('status')).toMatchObject({ taken_over: false })
    await load.stop()
    expect(await unknownAt(stack.baseUrl)).toEqual([])
    await sendsAgain(0)
  })

  test('acknowledges nothing while its journal does not answer, says why, and goes on after it', async () => {
    const sent = await sendsAgain(0)
    await server.kill()
    const waiting: Promise<Reply>[] = []
    async function refusal(): Promise<unknown> {
      const reply = send(client(1))
      waiting.push(reply)
      const answer = await Promise.race([reply, sleep(ANSWERS_MS).then(() => null)])
      return answer === null ? null : answer.json.error
    }
    await expect
      .poll(refusal)
      .toMatchObject({ code: 'WRITES_STOPPED', details: { reason: 'journal' } })
    expect((await client(0).get(`/api/tx/${sent}`)).status).toBe(200)
    await server.start()
    const statuses: number[] = []
    for (const { status, json } of await Promise.all(waiting)) {
      statuses.push(status)
      if (status === 200) acknowledged.push({ caller: 1, id: String(json.tx_id) })
    }
    // Those that were under way were told once it was known, or after seconds that nobody knows.
    expect(statuses).toContain(503)
    expect([200, 503, 504]).toEqual(expect.arrayContaining([...new Set(statuses)]))
    await sendsAgain(1)
    expect(await unknownAt(stack.baseUrl)).toEqual([])
  })

  test('has no secret in its journal', async () => {
    const leader = httpClient(stack.baseUrl, { authorization: `Bearer ${stack.consoleToken}` })
    const hook = await leader.post('/api/v1/agent/webhooks', { url: 'https://hooks.example.com/x' })
    expect(hook.status).toBe(201)
    const secrets = [...stack.secrets, String(hook.json.secret)]
    expect(secrets.every((secret) => secret.length > 20)).toBe(true)
    const holds = (text: string) =>
      server.sql(
        `SELECT count(*) FROM countersign_journal.entries WHERE position('${Buffer.from(text).toString('hex')}' IN encode(body, 'hex')) > 0`,
      )
    expect(Number(holds('hooks.example.com'))).toBeGreaterThan(0)
    for (const secret of secrets) {
      expect(holds(secret)).toBe('0')
      expect(holds(secret.replace(/^[a-z_]+_/, ''))).toBe('0')
    }
  })

  test('ends when another takes over, which has every acknowledged send, and does not take it back by itself', async () => {
    const copy = join(directory, 'home')
    const parts = ['service', 'registry.json', 'chains.json']
    await stack.restartService(async () => {
      for (const part of parts)
        cpSync(join(stack.home, part), join(copy, part), { recursive: true })
      // It has the shares of its wallets, and no store at all.
      rmSync(join(copy, 'service', 'store'), { recursive: true })
      symlinkSync(join(stack.home, 'run'), join(copy, 'run'))
    })
    const load = underLoad()
    const before = acknowledged.length
    await expect.poll(() => acknowledged.length).toBeGreaterThan(before + 30)
    const port = String(await freePort())
    const older = stack.pids.service
    // Amid what it does: it wakes when another has taken over, with commands under way.
    process.kill(older, 'SIGSTOP')
    const own = { ...env, PORT: port, IDENTITY_ISSUER: issuerOf(stack.home) }
    second = await startChild('dist/src/main.js', { ...own, COUNTERSIGN_HOME: copy })
    const approved = await approvalsAtRest()
    process.kill(older, 'SIGCONT')
    await expect.poll(() => isRunning(older)).toBe(false)
    await load.stop()
    // Nothing at all was approved for the one that was taken over from.
    expect(approved).toBeGreaterThan(0)
    expect(await approvals()).toBe(approved)
    const newerUrl = `http://127.0.0.1:${port}`
    expect(await unknownAt(newerUrl)).toEqual([])
    await sendsAgain(0, newerUrl)

    const again = startChild('dist/src/main.js', {
      ...{ ...own, PORT: String(await freePort()) },
      COUNTERSIGN_HOME: stack.home,
    })
    await expect(again).rejects.toThrow(/has acquired this store's journal/)
    await sendsAgain(1, newerUrl)
    expect(await unknownAt(newerUrl)).toEqual([])
  })

  test('does not start without its journal, until it is let go on alone', async () => {
    const home = join(directory, 'home')
    const port = String(await freePort())
    const alone = {
      ...{ COUNTERSIGN_HOME: home, PORT: port, COUNTERSIGN_WORKERS: '2' },
      IDENTITY_ISSUER: issuerOf(stack.home),
    }
    await second?.stop()
    await expect(startChild('dist/src/main.js', alone)).rejects.toThrow(/countersign cluster leave/)
    expect(await clusterAt(home, 'status')).toMatchObject({ taken_over: false })
    const { left_at_entry: entry } = await clusterAt(home, 'leave', '--yes')
    expect(Number(entry)).toBeGreaterThan(0)
    second = await startChild('dist/src/main.js', alone)
    const url = `http://127.0.0.1:${port}`
    expect(await unknownAt(url)).toEqual([])
    await sendsAgain(0, url)
  })
})

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
