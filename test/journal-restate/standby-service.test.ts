import { randomBytes } from 'node:crypto'
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Child, startChild } from '../../bench/child-process.js'
import { issuerOf, type SinkStack, startSinkStack } from '../../bench/sink-stack.js'
import { httpClient } from '../support/http-client.js'
import { freePort } from '../support/ports.js'
import { underLoad } from '../support/under-load.js'
import { type JournalCluster, startJournalCluster } from './journal-cluster.js'

const CALLERS = 4
const GOES_ON = { timeout: 60_000 }

/** Two services, and three nodes of Restate, of which one is on the machine of the first. */
describe('a standby of a service with a journal in Restate', () => {
  let directory: string
  let journal: JournalCluster
  let stack: SinkStack
  let standby: Promise<Child> | undefined
  let standbyUrl: string
  /** Ids by the key of the send. */
  const acknowledged = new Map<string, { readonly caller: number; readonly id: string }>()

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'cs-restate-standby-'))
    journal = await startJournalCluster(directory)
    const { env } = journal
    stack = await startSinkStack({ wallets: CALLERS, env })
    const home = join(directory, 'home')
    await stack.restartService(async () => {
      for (const part of ['service', 'registry.json', 'chains.json']) {
        cpSync(join(stack.home, part), join(home, part), { recursive: true })
      }
      rmSync(join(home, 'service', 'store'), { recursive: true })
      symlinkSync(join(stack.home, 'run'), join(home, 'run'))
    })
    const port = String(await freePort())
    standbyUrl = `http://127.0.0.1:${port}`
    standby = startChild('dist/src/main.js', {
      ...{ ...env, COUNTERSIGN_HOME: home, COUNTERSIGN_JOURNAL_ROLE: 'standby', PORT: port },
      COUNTERSIGN_RATE_PER_SECOND: '1000000',
      IDENTITY_ISSUER: issuerOf(stack.home),
    })
    // It is ready once it has taken over: whether it comes to that is what is tested.
    standby.catch(() => undefined)
  })
  afterAll(async () => {
    await standby?.then(
      (child) => child.kill(),
      () => undefined,
    )
    await stack?.stop()
    await journal?.remove()
    rmSync(directory, { recursive: true, force: true })
  })

  const client = (caller: number, url: string) =>
    httpClient(url, { 'x-api-key': stack.secrets[caller] ?? '' })

  async function journalPart(url: string): Promise<Readonly<Record<string, unknown>>> {
    const answer = await fetch(`${url}/readyz`).catch(() => null)
    if (answer === null) return {}
    const { parts } = (await answer.json()) as { parts: Record<string, Record<string, unknown>> }
    return { http: answer.status, ...parts.journal }
  }

  /** One send, asked for again under its key of whoever may answer, until it was taken. */
  async function sendsOnce(caller: number, urls: readonly string[]): Promise<void> {
    const key = randomBytes(16).toString('hex')
    const body = { chain_id: stack.chainId, to: `0x${key}00000000`, value: '1' }
    for (let tries = 0; ; tries++) {
      const reply = await client(caller, urls[tries % urls.length] ?? '')
        .post('/api/tx/send', body, { 'idempotency-key': key })
        .catch(() => null)
      const id = reply?.json.tx_id
      if ((reply?.status === 200 || reply?.status === 202) && id !== undefined) {
        acknowledged.set(key, { caller, id: String(id) })
        return
      }
      await sleep(20)
    }
  }

  const callersAt = (urls: readonly string[]) =>
    underLoad(CALLERS, (caller) => sendsOnce(caller, urls))

  async function goesOn(): Promise<void> {
    const before = acknowledged.size
    await expect.poll(() => acknowledged.size, GOES_ON).toBeGreaterThan(before + 20)
  }

  test('takes nothing while its owner lives, whichever node of the cluster is lost', async () => {
    const load = callersAt([stack.baseUrl])
    await goesOn()
    await expect.poll(() => journalPart(standbyUrl), GOES_ON).toMatchObject({ standby: true })
    for (const node of journal.cluster.nodes) {
      await node.kill()
      await goesOn()
      await node.start()
      await goesOn()
    }
    await load.stop()
    await expect
      .poll(() => journalPart(standbyUrl), GOES_ON)
      .toMatchObject({ http: 503, standby: true, behind: 0, epoch: 2 })
    expect(await journalPart(stack.baseUrl)).toMatchObject({ http: 200, epoch: 2 })
  })

  test('takes over where the service is lost with a node: nothing is lost, and nothing is doubled', async () => {
    const load = callersAt([stack.baseUrl, standbyUrl])
    await goesOn()
    process.kill(stack.pids.service, 'SIGKILL')
    await journal.cluster.nodes[0]?.kill()
    const lostAt = performance.now()
    await expect.poll(async () => (await journalPart(standbyUrl)).http, GOES_ON).toBe(200)
    const tookMs = Math.round(performance.now() - lostAt)
    await goesOn()
    await load.stop()
    process.stdout.write(`from the loss until the standby was ready: ${tookMs} ms\n`)
    expect(await journalPart(standbyUrl)).toMatchObject({ status: 'up', epoch: 3 })
    const nonces = new Map<number, Set<unknown>>()
    for (const { caller, id } of acknowledged.values()) {
      const reply = await client(caller, standbyUrl).get(`/api/tx/${id}`)
      expect(reply.status).toBe(200)
      const of = nonces.get(caller) ?? new Set()
      expect(of).not.toContain(reply.json.nonce)
      nonces.set(caller, of.add(reply.json.nonce))
    }
    expect(new Set([...acknowledged.values()].map(({ id }) => id)).size).toBe(acknowledged.size)
  })
})
