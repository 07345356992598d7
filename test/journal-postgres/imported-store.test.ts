import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Child, startChild } from '../../bench/child-process.js'
import { freePort } from '../../bench/free-port.js'
import { issuerOf, type SinkStack, startSinkStack } from '../../bench/sink-stack.js'
import { importStore } from '../../src/cli/operator/import-store.js'
import { systemTimers } from '../../src/clock/timers.js'
import { freezeInstance, instanceFreezePath } from '../../src/custody/instance-freeze.js'
import { ONE_CELL } from '../../src/domain/cells.js'
import type { Journal } from '../../src/journal/journal.js'
import { openPostgresJournal } from '../../src/journal/postgres-journal.js'
import { carriedFreezeOf } from '../../src/store/carried-freeze.js'
import { type Environment, openEnvironment } from '../../src/store/environment.js'
import { followJournal, NO_POSITION } from '../../src/store/follow-journal.js'
import { PARTITION } from '../../src/store/journaled-store.js'
import { createReader } from '../../src/store/reader.js'
import { restoreSnapshot } from '../../src/store/snapshots/restore-snapshot.js'
import { wayToEnd } from '../../src/store/snapshots/way-to-end.js'
import { contentsOf } from '../journal/journaled-fixtures.js'
import { httpClient } from '../support/http-client.js'
import { createPostgres, type PostgresServer } from '../support/postgres-server.js'
import { runCommand } from '../support/run-command.js'

const PROCESS = fileURLToPath(new URL('./fixtures-import-process.mjs', import.meta.url))
const CALLERS = 3
const SENDS = 12
const TIMEOUT_MS = 600_000
const SETTLES = { timeout: 60_000 }
const log = { error: () => undefined, warn: () => undefined, info: () => undefined }

/** The home of a service that was there before its journal: a copy for each test. */
describe('cluster import', { timeout: TIMEOUT_MS }, () => {
  let server: PostgresServer
  let directory: string
  let stack: SinkStack
  let hookSecret: string
  let copies = 0
  const acknowledged: { readonly caller: number; readonly id: string }[] = []
  const started: Child[] = []

  beforeAll(async () => {
    server = await createPostgres()
    directory = mkdtempSync(join(tmpdir(), 'cs-import-'))
    stack = await startSinkStack({ wallets: CALLERS, env: { COUNTERSIGN_WORKERS: '2' } })
    for (let sent = 0; sent < SENDS; sent++) {
      const caller = sent % CALLERS
      acknowledged.push({ caller, id: await send(stack.baseUrl, caller) })
    }
    const owner = httpClient(stack.baseUrl, { authorization: `Bearer ${stack.consoleToken}` })
    const hook = await owner.post('/api/v1/agent/webhooks', { url: 'https://hooks.example.com/x' })
    expect(hook.status).toBe(201)
    hookSecret = String(hook.json.secret)
  }, TIMEOUT_MS)
  afterAll(async () => {
    for (const child of started) await child.kill()
    await stack?.stop()
    await server?.remove()
    rmSync(directory, { recursive: true, force: true })
  })

  async function send(url: string, caller: number): Promise<string> {
    const api = httpClient(url, { 'x-api-key': stack.secrets[caller] ?? '' })
    const body = { chain_id: stack.chainId, to: `0x${randomBytes(20).toString('hex')}`, value: '1' }
    const reply = await api.post('/api/tx/send', body)
    expect(reply.status, reply.text).toBe(200)
    return String(reply.json.tx_id)
  }

  async function expectAllThere(url: string): Promise<void> {
    for (const { caller, id } of acknowledged) {
      const api = httpClient(url, { 'x-api-key': stack.secrets[caller] ?? '' })
      expect((await api.get(`/api/tx/${id}`)).status).toBe(200)
    }
  }

  function database(): { readonly url: string; readonly file: string } {
    const name = `journal_${copies++}`
    server.sql(`CREATE DATABASE ${name}`)
    const url = server.url.replace(/postgres$/, name)
    const file = join(directory, `${name}.json`)
    writeFileSync(file, JSON.stringify({ postgres: [url] }), { mode: 0o600 })
    return { url, file }
  }

  /** As it was when its service was killed. */
  function copyOfHome(): string {
    const home = join(directory, `home-${copies++}`)
    cpSync(join(directory, 'before'), home, { recursive: true })
    symlinkSync(join(stack.home, 'run'), join(home, 'run'))
    return home
  }

  async function cluster(file: string | null, home: string, command = 'import') {
    const env: Record<string, string> = file === null ? {} : { COUNTERSIGN_JOURNAL_FILE: file }
    const args = ['--json', 'cluster', command, '--home', home]
    const { code, out, said } = await runCommand(env, args)
    const record = code === 0 ? (JSON.parse(out) as Readonly<Record<string, unknown>>) : {}
    return { code, said, record }
  }

  async function withJournal<T>(url: string, use: (journal: Journal) => Promise<T>): Promise<T> {
    const journal = await openPostgresJournal([url], log)
    try {
      return await use(journal)
    } finally {
      await journal.close()
    }
  }

  /** A store that is lost, as it comes back. */
  function restored(url: string, path: string): Promise<Environment> {
    return withJournal(url, async (journal) => {
      const environment = openEnvironment(path)
      const timers = systemTimers()
      const way = await wayToEnd({ environment, journal, partition: PARTITION, timers, log })
      if (way === null) throw new Error('there is no snapshot')
      const position = await restoreSnapshot(way, NO_POSITION)
      const { seq } = await journal.readHead(PARTITION)
      await followJournal(environment, journal, PARTITION, seq, position)
      return environment
    })
  }

  async function expectComesBack(url: string, home: string): Promise<void> {
    const own = openEnvironment(join(home, 'service', 'store'))
    const lost = await restored(url, join(home, 'lost'))
    const { transactionSegments: _, ...rows } = contentsOf(own)
    expect(contentsOf(lost)).toEqual({ ...rows, transactionSegments: [] })
    expect(rows.transactions).toHaveLength(SENDS)
    expect(rows.sealedShares).not.toEqual([])
    await own.root.close()
    await lost.root.close()
  }

  /** All that is in a journal, as who administers its database reads it. */
  function bodiesIn(url: string): Promise<Buffer> {
    return withJournal(url, async (journal) => {
      const { snapshots } = journal
      const newest = (await snapshots?.readHead(PARTITION))?.newest
      const entries = await journal.read(PARTITION, 0, 1_000_000_000)
      const bodies = entries.map(({ body }) => body)
      for (let index = 0; index < (newest?.chunks ?? 0); index++) {
        bodies.push((await snapshots?.read(PARTITION, newest?.id ?? '', index)) ?? Buffer.alloc(0))
      }
      return Buffer.concat(bodies)
    })
  }

  async function start(home: string, file: string, role = 'owner'): Promise<string> {
    const port = String(await freePort())
    const child = await startChild('dist/src/main.js', {
      ...{ COUNTERSIGN_HOME: home, COUNTERSIGN_JOURNAL_FILE: file, PORT: port },
      COUNTERSIGN_JOURNAL_ROLE: role,
      ...{ COUNTERSIGN_WORKERS: '2', IDENTITY_ISSUER: issuerOf(stack.home) },
    })
    started.push(child)
    return `http://127.0.0.1:${port}`
  }

  test('is refused while the service runs, and where there is no store or journal', async () => {
    const { file } = database()
    const running = await cluster(file, stack.home)
    expect([running.code, running.said]).toEqual([1, expect.stringContaining('is in use by')])
    const bare = join(directory, 'bare')
    mkdirSync(bare)
    const empty = await cluster(file, bare)
    expect([empty.code, empty.said]).toEqual([2, expect.stringContaining('has nothing to import')])
    expect(existsSync(join(bare, 'service'))).toBe(false)
    process.kill(stack.pids.service, 'SIGKILL')
    await expect.poll(() => fetch(stack.baseUrl).catch(() => null), SETTLES).toBeNull()
    for (const part of ['service', 'registry.json', 'chains.json']) {
      cpSync(join(stack.home, part), join(directory, 'before', part), { recursive: true })
    }
    const none = await cluster(null, copyOfHome())
    expect([none.code, none.said]).toEqual([
      2,
      expect.stringContaining('COUNTERSIGN_JOURNAL_FILE names no journal'),
    ])
  })

  test('goes on where it was killed, whatever it was at', async () => {
    let isOver = false
    let kills = 0
    for (let nth = 1; !isOver; nth++) {
      for (const when of ['before', 'after']) {
        const [{ url, file }, home] = [database(), copyOfHome()]
        const child = fork(PROCESS, [home, url, String(nth), when], {
          stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
        })
        const [code, signal] = await once(child, 'close')
        isOver = code === 0
        if (!isOver) {
          expect(signal).toBe('SIGKILL')
          kills++
        }
        const { code: again, said, record } = await cluster(file, home)
        expect([again, said]).toEqual([0, ''])
        expect(record).toMatchObject({ shares_left: 0, snapshot_entry: record.entries })
        await expectComesBack(url, home)
        rmSync(home, { recursive: true })
      }
    }
    // At the least taking, the base, shares, some chunks, publishing, sweeping.
    expect(kills).toBeGreaterThan(2 * 8)
  })

  test('leaves the first start nothing to do, and has a lost store and machine come back', async () => {
    const [{ file }, home] = [database(), copyOfHome()]
    const made = await cluster(file, home)
    expect([made.code, made.said]).toEqual([0, ''])
    const again = await cluster(file, home)
    expect(again.record).toEqual(made.record)
    const status = (await cluster(file, home, 'status')).record
    expect(status).toMatchObject({
      ...{ epoch: 1, taken_over: false, entries: made.record.entries },
      snapshot_entry: made.record.entries,
    })
    const lost = copyOfHome()
    rmSync(join(lost, 'service', 'store'), { recursive: true })
    const second = await start(lost, file)
    await expectAllThere(second)
    await send(second, 0)
    const { record: after } = await cluster(file, lost, 'status')
    expect(after).toMatchObject({ epoch: 2, snapshot_entry: made.record.entries })
    await started.pop()?.kill()
    const late = await cluster(file, home)
    expect([late.code, late.said]).toEqual([
      2,
      expect.stringContaining('has a journal already, and a service has continued it'),
    ])
  })

  test('puts no secret there in clear', async () => {
    const [{ url, file }, home] = [database(), copyOfHome()]
    expect((await cluster(file, home)).code).toBe(0)
    const bodies = await bodiesIn(url)
    expect(bodies.includes('hooks.example.com')).toBe(true)
    for (const secret of [...stack.secrets, hookSecret]) {
      const bare = secret.replace(/^[a-z_]+_/, '')
      expect([bodies.includes(secret), bodies.includes(bare)]).toEqual([false, false])
    }
  })

  test('has the first start of its own home go on with what is there, a standby as well', async () => {
    const [{ file }, home] = [database(), copyOfHome()]
    const made = await cluster(file, home)
    const service = await start(home, file, 'standby')
    await expectAllThere(service)
    await send(service, 1)
    const { record } = await cluster(file, home, 'status')
    expect(record).toMatchObject({ epoch: 2, snapshot_at: made.record.snapshot_at })
    await started.pop()?.kill()
  })

  test('is refused for a journal that is not empty, whoever has it, and changes nothing there', async () => {
    const [{ file }, first, second] = [database(), copyOfHome(), copyOfHome()]
    expect((await cluster(file, first)).code).toBe(0)
    const before = (await cluster(file, first, 'status')).record
    const taken = await cluster(file, second)
    expect([taken.code, taken.said]).toEqual([2, expect.stringMatching(/has \d+ entries/)])
    expect((await cluster(file, first, 'status')).record).toEqual(before)
    const other = await cluster(database().file, first)
    expect([other.code, other.said]).toEqual([
      2,
      expect.stringContaining('it is not the one that COUNTERSIGN_JOURNAL_FILE names'),
    ])
    const begun = database()
    await withJournal(begun.url, async (journal) => {
      const { epoch } = await journal.acquire(PARTITION, 'elsewhere:1', 'a claim')
      await journal.heartbeat(PARTITION, epoch, 0, 'lives')
    })
    const alive = await cluster(begun.file, second)
    expect([alive.code, alive.said]).toEqual([
      2,
      expect.stringContaining('a service at elsewhere:1 already leads this journal'),
    ])
  })

  test('takes a freeze of the operator along', async () => {
    const [{ url, file }, home] = [database(), copyOfHome()]
    freezeInstance(instanceFreezePath(home, 'service'), 'looked into', Date.now())
    expect((await cluster(file, home)).code).toBe(0)
    const lost = await restored(url, join(home, 'lost'))
    expect(carriedFreezeOf(createReader(lost).freezes)).toMatchObject({ reason: 'looked into' })
    await lost.root.close()
  })

  test('is refused by an engine that keeps no snapshots, and takes nothing there', async () => {
    const [{ url }, home] = [database(), copyOfHome()]
    await withJournal(url, async ({ snapshots: _, ...journal }) => {
      const options = { node: 'test', timers: systemTimers(), log, put: () => undefined }
      expect(() => importStore({ ...options, home, journal, cell: ONE_CELL })).toThrow(
        'keeps no snapshots',
      )
      expect(await journal.readHead(PARTITION)).toMatchObject({ epoch: 0 })
    })
  })
})
