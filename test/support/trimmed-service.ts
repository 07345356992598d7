import { randomBytes } from 'node:crypto'
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Child, startChild } from '../../bench/child-process.js'
import { freePort } from '../../bench/free-port.js'
import { issuerOf, type SinkStack, startSinkStack } from '../../bench/sink-stack.js'
import { runProgram } from '../../src/cli/program.js'
import { systemTimers } from '../../src/clock/timers.js'
import { readJournalFile } from '../../src/config/journal.js'
import type { Journal } from '../../src/journal/journal.js'
import { openEngine } from '../../src/journal/open-engine.js'
import { type Environment, openEnvironment } from '../../src/store/environment.js'
import { followJournal, NO_POSITION } from '../../src/store/follow-journal.js'
import { journalPositionOf } from '../../src/store/journal-position.js'
import { PARTITION } from '../../src/store/journaled-store.js'
import { restoreSnapshot } from '../../src/store/snapshots/restore-snapshot.js'
import { wayToEnd } from '../../src/store/snapshots/way-to-end.js'
import { contentsOf } from '../journal/journaled-fixtures.js'
import { httpClient } from './http-client.js'
import { underLoad } from './under-load.js'

const CALLERS = 16
const SLOW = { timeout: 120_000 }
const TIMEOUT_MS = 600_000
/** How many keys are used again, of the first and of the last sends. */
const ASKED_AGAIN = 20
const log = { warn: () => undefined, info: () => undefined }

interface Sent {
  readonly caller: number
  readonly key: string
  readonly to: string
  readonly id: string
}

export interface TrimmedEngine {
  /** The journal's file, which the services are started with. */
  readonly journalFile: string
  remove(): Promise<void>
}

export interface TrimmedServiceOptions {
  /** How often the service is killed, each time after another snapshot. */
  readonly kills: number
  /** Whether the engine reports how much space it uses. */
  readonly engineBytes: 'known' | 'unknown'
}

/**
 * Tests of a service whose journal is kept short, with a standby that joins late.
 * @param open opens the engine in its own directory
 */
export function describeTrimmedService(
  name: string,
  open: (directory: string) => Promise<TrimmedEngine>,
  { kills: killsMax, engineBytes }: TrimmedServiceOptions,
): void {
  describe(`a service whose journal is trimmed in ${name}`, () => {
    let engine: TrimmedEngine
    let directory: string
    let stack: SinkStack
    let env: Readonly<Record<string, string>>
    const acknowledged: Sent[] = []
    let standby: Promise<Child> | null = null

    beforeAll(async () => {
      directory = mkdtempSync(join(tmpdir(), 'cs-trimmed-'))
      engine = await open(directory)
      env = {
        ...{ COUNTERSIGN_JOURNAL_FILE: engine.journalFile, COUNTERSIGN_WORKERS: '2' },
        COUNTERSIGN_JOURNAL_TAIL_MIB: '1',
      }
      stack = await startSinkStack({ wallets: CALLERS, env })
    })
    afterAll(async () => {
      const child = await standby?.catch(() => null)
      await child?.kill()
      await stack?.stop()
      await engine?.remove()
      rmSync(directory, { recursive: true, force: true })
    })

    const ask = (baseUrl: string, { caller, key, to }: Omit<Sent, 'id'>) =>
      httpClient(baseUrl, { 'x-api-key': stack.secrets[caller] ?? '' }).post(
        '/api/tx/send',
        { chain_id: stack.chainId, to, value: '1' },
        { 'idempotency-key': key },
      )

    /** Each send is repeated under its key until a node accepts it. */
    async function sendsOnce(caller: number, urls: readonly string[]): Promise<void> {
      const key = randomBytes(16).toString('hex')
      const send = { caller, key, to: `0x${randomBytes(20).toString('hex')}` }
      for (let tries = 0; ; tries++) {
        const reply = await ask(urls[tries % urls.length] ?? '', send).catch(() => null)
        const id = reply?.json.tx_id
        if ((reply?.status === 200 || reply?.status === 202) && typeof id === 'string') {
          acknowledged.push({ ...send, id })
          return
        }
        await sleep(20)
      }
    }

    const callersAt = (urls: readonly string[] = [stack.baseUrl]) =>
      underLoad(CALLERS, (caller) => sendsOnce(caller, urls))

    /** Every acknowledged send is known, and its key gets the same answer as before. */
    async function expectAllThere(baseUrl: string): Promise<void> {
      const missing: Sent[] = []
      await Promise.all(
        Array.from({ length: CALLERS }, async (_, caller) => {
          const api = httpClient(baseUrl, { 'x-api-key': stack.secrets[caller] ?? '' })
          for (const sent of acknowledged.filter((one) => one.caller === caller)) {
            if ((await api.get(`/api/tx/${sent.id}`)).status !== 200) missing.push(sent)
          }
        }),
      )
      expect(missing).toEqual([])
      for (const sent of [
        ...acknowledged.slice(0, ASKED_AGAIN),
        ...acknowledged.slice(-ASKED_AGAIN),
      ]) {
        expect((await ask(baseUrl, sent)).json.tx_id).toBe(sent.id)
      }
      expect(new Set(acknowledged.map(({ id }) => id)).size).toBe(acknowledged.length)
    }

    async function cluster(home: string, ...args: readonly string[]) {
      let [out, said] = ['', '']
      const io = {
        env: { ...env, COUNTERSIGN_HOME: home },
        out: (text: string) => {
          out += text
        },
        err: (text: string) => {
          said += text
        },
        isInteractive: false,
      }
      const code = await runProgram(io, ['--json', 'cluster', ...args])
      const record = code === 0 ? (JSON.parse(out) as Readonly<Record<string, unknown>>) : {}
      return { code, said, record }
    }

    const statusOf = async (home: string) => (await cluster(home, 'status')).record

    const journalOf = () => openEngine(readJournalFile(engine.journalFile), log)

    /** Brings a store from which no node serves to the end of the journal. */
    async function atTheEnd(path: string): Promise<Environment> {
      const journal = await journalOf()
      const environment = openEnvironment(path)
      const timers = systemTimers()
      const way = await wayToEnd({ environment, journal, partition: PARTITION, timers, log })
      const start = journalPositionOf(environment) ?? NO_POSITION
      const position = way === null ? start : await restoreSnapshot(way, start)
      const { seq } = await journal.readHead(PARTITION)
      await followJournal(environment, journal, PARTITION, seq, position)
      await journal.close()
      return environment
    }

    test(
      'keeps every acknowledged send when it is killed again and again, and trims all the while',
      async () => {
        const load = callersAt()
        const entries: number[] = []
        for (let kills = 0; kills < killsMax; kills++) {
          const before = (await statusOf(stack.home)).snapshot_entry
          await expect
            .poll(async () => (await statusOf(stack.home)).snapshot_entry, SLOW)
            .not.toBe(before)
          // The kill falls into a trim, into the next snapshot, or between them.
          await sleep(Math.random() * 1_000)
          await stack.restartService()
          entries.push(Number((await statusOf(stack.home)).snapshot_entry))
        }
        await expect
          .poll(async () => Number((await statusOf(stack.home)).first_entry), SLOW)
          .toBeGreaterThan(entries[0] ?? 0)
        await load.stop()
        await expectAllThere(stack.baseUrl)
        expect(entries).toEqual([...new Set(entries)].sort((a, b) => a - b))
      },
      TIMEOUT_MS,
    )

    test(
      'comes back complete when its store is gone',
      async () => {
        const store = join(stack.home, 'service', 'store')
        await stack.restartService(async () => {
          cpSync(store, join(directory, 'own'), { recursive: true })
          const own = await atTheEnd(join(directory, 'own'))
          const lost = await atTheEnd(join(directory, 'lost'))
          const { transactionSegments: _, ...rows } = contentsOf(own)
          expect(contentsOf(lost)).toEqual({ ...rows, transactionSegments: [] })
          expect(rows.transactions).toHaveLength(acknowledged.length)
          await own.root.close()
          await lost.root.close()
          rmSync(store, { recursive: true })
        })
        await expectAllThere(stack.baseUrl)
      },
      TIMEOUT_MS,
    )

    test('says what there is, and makes a snapshot when it is told to', async () => {
      const load = callersAt()
      const sent = acknowledged.length
      await expect.poll(() => acknowledged.length, SLOW).toBeGreaterThan(sent + 20)
      const { record: made } = await cluster(stack.home, 'snapshot')
      await load.stop()
      const status = await statusOf(stack.home)
      expect(Number(made.snapshot_rows)).toBeGreaterThan(2 * sent)
      expect(Number(status.snapshot_entry)).toBeGreaterThanOrEqual(Number(made.snapshot_entry))
      expect(status.entries_kept).toBe(Number(status.entries) - Number(status.first_entry) + 1)
      expect(Date.parse(String(status.snapshot_at))).toBeGreaterThan(Date.now() - TIMEOUT_MS)
      expect(Number(status.snapshot_bytes)).toBeGreaterThan(1_000_000)
      if (engineBytes === 'unknown') expect(status.engine_bytes).toBeNull()
      else expect(Number(status.engine_bytes)).toBeGreaterThan(1_000_000)
      expect(status.tail_bytes).toBeTypeOf('number')
    })

    test('has no secret in its snapshots', async () => {
      const leader = httpClient(stack.baseUrl, { authorization: `Bearer ${stack.consoleToken}` })
      const hook = await leader.post('/api/v1/agent/webhooks', {
        url: 'https://hooks.example.com/x',
      })
      expect(hook.status).toBe(201)
      expect((await cluster(stack.home, 'snapshot')).code).toBe(0)
      const journal = await journalOf()
      const chunks = await chunksOf(journal)
      await journal.close()
      const holds = (text: string) => chunks.filter((chunk) => chunk.includes(text)).length
      expect(holds('hooks.example.com')).toBeGreaterThan(0)
      for (const secret of [...stack.secrets, String(hook.json.secret)]) {
        expect([holds(secret), holds(secret.replace(/^[a-z_]+_/, ''))]).toEqual([0, 0])
      }
    })

    test(
      'has a standby that comes up behind the trim, and takes over with all there is',
      async () => {
        const home = join(directory, 'home')
        await stack.restartService(async () => {
          for (const part of ['service', 'registry.json', 'chains.json']) {
            cpSync(join(stack.home, part), join(home, part), { recursive: true })
          }
          rmSync(join(home, 'service', 'store'), { recursive: true })
          symlinkSync(join(stack.home, 'run'), join(home, 'run'))
        })
        expect(Number((await statusOf(stack.home)).first_entry)).toBeGreaterThan(1)
        const port = String(await freePort())
        standby = startChild('dist/src/main.js', {
          ...env,
          ...{ COUNTERSIGN_JOURNAL_ROLE: 'standby', PORT: port, COUNTERSIGN_HOME: home },
          COUNTERSIGN_RATE_PER_SECOND: '1000000',
          IDENTITY_ISSUER: issuerOf(stack.home),
        })
        standby.catch(() => undefined)
        const url = `http://127.0.0.1:${port}`
        const journalPart = async () => {
          const answer = await fetch(`${url}/readyz`).catch(() => null)
          if (answer === null) return {}
          const { parts } = (await answer.json()) as { parts: Record<string, object> }
          return { http: answer.status, ...parts.journal }
        }
        await expect.poll(journalPart, SLOW).toMatchObject({ http: 503, standby: true, behind: 0 })
        const load = callersAt([stack.baseUrl, url])
        const before = acknowledged.length
        await expect.poll(() => acknowledged.length, SLOW).toBeGreaterThan(before + 30)
        process.kill(stack.pids.service, 'SIGKILL')
        await expect.poll(journalPart, SLOW).toMatchObject({ http: 200, status: 'up' })
        const taken = acknowledged.length
        await expect.poll(() => acknowledged.length, SLOW).toBeGreaterThan(taken + 30)
        await load.stop()
        await expectAllThere(url)
        // The journal no longer accepts a snapshot from the deposed owner.
        const refused = await cluster(stack.home, 'snapshot')
        expect(refused.code).not.toBe(0)
        expect(refused.said).toContain('is not the leader')
        expect((await cluster(home, 'snapshot')).code).toBe(0)
      },
      TIMEOUT_MS,
    )
  })
}

async function chunksOf({ snapshots }: Journal): Promise<readonly Buffer[]> {
  const newest = (await snapshots?.readHead(PARTITION))?.newest
  const chunks: Buffer[] = []
  for (let index = 0; index < (newest?.chunks ?? 0); index++) {
    const body = await snapshots?.read(PARTITION, newest?.id ?? '', index)
    chunks.push(Buffer.from(body ?? []))
  }
  return chunks
}
