import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { EngineName } from '../../scripts/dev/cluster/journal-engine.js'
import type { ClusterFile } from '../../scripts/dev/cluster/start-cluster.js'
import { mintConsoleToken } from '../../scripts/dev/mint-console-token.js'
import { isAlive } from '../devnet/support/observer.js'
import { type Started, startDev } from '../devnet/support/started.js'
import { journalPart, nodePart } from '../journal-postgres/standby-pair.js'
import { httpClient } from './http-client.js'

const START_MS_MAX = 360_000
/**
 * Allows for six chains, the journal's engine, and three services on two cores that other work
 * keeps busy.
 */
const IN_TIME = { timeout: 120_000, interval: 250 }
const BASE = 8453

/** What tests of one engine do with a cluster that runs. */
interface RunningCluster {
  readonly home: () => string
  readonly dev: () => ReturnType<Started['dev']> & ClusterFile
  /** Sends at one node, and waits until the chain has it. */
  confirmedAt(url: string): Promise<unknown>
  /** Whether its user can sign in. */
  signsIn(): Promise<boolean>
}

interface OwnPart {
  /** Prepares its home before the first start. */
  readonly prepare?: (home: string) => Promise<void>
  /** Declares tests of that engine. */
  readonly tests?: (cluster: RunningCluster) => void
}

/** One home, whose cluster is started, damaged and started again. */
export function describeClusterCommand(
  journal: EngineName,
  { prepare = async () => undefined, tests = () => undefined }: OwnPart = {},
): void {
  describe(`npm run cluster with ${journal}`, { timeout: START_MS_MAX }, () => {
    let home: string
    let started: Started
    const command = ['cluster', '--journal', journal] as const

    beforeAll(async () => {
      home = mkdtempSync(join(tmpdir(), 'cs-cluster-'))
      await prepare(home)
      started = await startDev(home, undefined, command)
    }, START_MS_MAX)
    afterAll(async () => {
      await started?.stop()
      rmSync(home, { recursive: true, force: true, maxRetries: 10 })
    }, START_MS_MAX)

    const dev = () => started.dev() as ReturnType<Started['dev']> & ClusterFile
    /** The state that the next start would find if this one were killed with all its helpers. */
    const allPids = () => {
      const children = JSON.parse(readFileSync(join(home, 'run', 'children.json'), 'utf8'))
      return (children as readonly { pid: number }[]).map(({ pid }) => pid)
    }
    const roles = () =>
      Promise.all(dev().nodes.map(async ({ base_url: url }) => (await nodePart(url)).standby))

    /** The leader steps down where its machine is so busy that the identity provider's standby comes late. */
    async function serves(): Promise<void> {
      await expect.poll(async () => (await nodePart(dev().base_url)).http, IN_TIME).toBe(200)
    }

    /** The place of the identity provider that leads: where the machine is busy, the second may. */
    async function leadingProvider(): Promise<number> {
      let place = -1
      const look = async () => {
        const answers = dev().identity_providers.map(({ base_url: url }) =>
          fetch(`${url}/.well-known/openid-configuration`).catch(() => null),
        )
        place = (await Promise.all(answers)).findIndex((answer) => answer?.ok === true)
        return place
      }
      await expect.poll(look, IN_TIME).not.toBe(-1)
      return place
    }

    /** Runs the command that the banner prints, which works when pasted. */
    async function shownLeader(): Promise<string> {
      const [line] = /COUNTERSIGN_JOURNAL_FILE=.* cluster status/.exec(started.output()) ?? []
      const { stdout } = await promisify(execFile)('sh', ['-c', line ?? ''])
      return stdout
    }

    /** Uses the trade key of the first start, at one node alone. */
    async function confirmedAt(url: string) {
      return confirmed(url, '/api/tx/send', { to: `0x${'b0'.repeat(20)}`, value: '1' })
    }

    async function signsIn(): Promise<boolean> {
      const { issuer, user } = dev()
      const token = await mintConsoleToken({ issuer, ...user }).catch(() => '')
      return token !== ''
    }

    /** The Router accepts it through the co-signature of that node's own key. */
    async function swappedAt(url: string) {
      const { USDC: token_in, WRAPPED: token_out } = dev().tokens[BASE] ?? {}
      const body = { token_in, token_out, amount_in: '1000000' }
      return confirmed(url, '/api/swap/execute', body)
    }

    async function confirmed(url: string, path: string, body: object) {
      const api = httpClient(url, { 'x-api-key': dev().keys.trade.secret })
      const sent = await api.post(path, { chain_id: BASE, ...body })
      expect(sent.status, sent.text).toBe(200)
      const view = async () => (await api.get(`/api/tx/${sent.json.tx_id}`)).json
      await expect.poll(async () => (await view()).status, IN_TIME).toBe('confirmed')
      return view()
    }

    test('has one node that owns the journal, others that wait with a quorum signer of their own, and answers at each', async () => {
      const { nodes, base_url: url } = dev()
      expect(nodes.map(({ owns_journal }) => owns_journal)).toEqual([true, false, false])
      expect(nodes[0]?.base_url).toBe(url)
      expect(await roles()).toEqual([undefined, true, true])
      const pids = nodes.flatMap(({ service, quorum_signer }) => [service, quorum_signer])
      expect(new Set(pids).size).toBe(6)
      for (const { base_url: at } of nodes.slice(1)) {
        const waits = { http: 200, behind: 0, loaded: true }
        await expect.poll(() => nodePart(at), IN_TIME).toMatchObject(waits)
        await confirmedAt(at)
      }
      expect(started.output()).toContain(
        `kill -9 ${dev().pids.service}: another node owns the journal`,
      )
      await confirmedAt(url)
      expect(await shownLeader()).toContain(`:${new URL(url).port} https://`)
    })

    test('answers at another node, by the same key, when the owner and its quorum signer are killed', async () => {
      const before = dev()
      await swappedAt(before.base_url)
      const first = await confirmedAt(before.base_url)
      for (const pid of [before.pids.service, before.pids.quorum_signer]) {
        process.kill(Number(pid), 'SIGKILL')
      }
      await expect.poll(() => dev().base_url, IN_TIME).not.toBe(before.base_url)
      const url = dev().base_url
      await expect.poll(async () => (await journalPart(url)).http, IN_TIME).toBe(200)
      expect(await confirmedAt(url)).toMatchObject({ nonce: Number(first.nonce) + 1 })
      await swappedAt(url)
      expect(await shownLeader()).toContain(`:${new URL(url).port} https://`)
      // The killed processes are running again, and wait.
      await expect
        .poll(() => nodePart(before.base_url), IN_TIME)
        .toMatchObject({ http: 200, standby: true, behind: 0, epoch: 2 })
      expect(await confirmedAt(before.base_url)).toMatchObject({ nonce: Number(first.nonce) + 2 })
      expect((await roles()).filter((standby) => standby === true)).toHaveLength(2)
      await expect.poll(() => dev().nodes[0]?.quorum_signer, IN_TIME).not.toBeNull()
      expect(dev().nodes[0]?.quorum_signer).not.toBe(before.pids.quorum_signer)
    })

    test('has callers signed in by the other identity provider while the one that serves stands still', async () => {
      expect(await signsIn()).toBe(true)
      const place = await leadingProvider()
      const serving = Number(dev().identity_providers[place]?.pid)
      process.kill(serving, 'SIGSTOP')
      try {
        await expect.poll(signsIn, IN_TIME).toBe(true)
        await serves()
        await confirmedAt(dev().base_url)
      } finally {
        process.kill(serving, 'SIGCONT')
      }
      // It has lost its journal in that time: it ends, and comes back as a standby.
      await expect.poll(() => dev().identity_providers[place]?.pid, IN_TIME).not.toBe(serving)
      expect(await signsIn()).toBe(true)
      await serves()
    })

    tests({ home: () => home, dev, confirmedAt, signsIn })

    test('comes back as it was, whichever node takes the journal, and names another one to ask where that is wanted', async () => {
      const before = dev()
      const pids = allPids()
      const last = await confirmedAt(before.base_url)
      expect(await started.stop('SIGTERM')).toBe(0)
      expect(pids.filter(isAlive)).toEqual([])
      started = await startDev(home, started.port, [...command, '--ask', 'standby'])
      expect(dev().keys).toEqual(before.keys)
      expect(dev().nodes.map(({ base_url: url }) => url)).toEqual(
        before.nodes.map(({ base_url: url }) => url),
      )
      const asked = dev().nodes.find(({ base_url: url }) => url === dev().base_url)
      expect(asked?.owns_journal).toBe(false)
      expect(await nodePart(dev().base_url)).toMatchObject({ http: 200, standby: true })
      expect(await confirmedAt(dev().base_url)).toMatchObject({ nonce: Number(last.nonce) + 1 })
    })

    test('leaves nothing running when it is killed itself', async () => {
      const pids = allPids()
      expect(pids.length).toBeGreaterThan(dev().nodes.length * 2 + 6)
      expect(started.supervisor.kill('SIGKILL')).toBe(true)
      await expect.poll(() => pids.filter(isAlive), IN_TIME).toEqual([])
    })
  })
}
