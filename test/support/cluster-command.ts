import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { EngineName } from '../../scripts/dev/cluster/journal-engine.js'
import type { ClusterFile } from '../../scripts/dev/cluster/start-cluster.js'
import { isAlive } from '../devnet/support/observer.js'
import { type Started, startDev } from '../devnet/support/started.js'
import { journalPart, nodePart } from '../journal-postgres/standby-pair.js'
import { httpClient } from './http-client.js'

const START_MS_MAX = 360_000
/** Six chains, what the journal is in, and three services on two cores that others keep busy. */
const IN_TIME = { timeout: 120_000, interval: 250 }
const BASE = 8453

/**
 * One home, whose cluster is started, hurt and started again.
 * @param prepare its home, before the first start
 */
export function describeClusterCommand(
  journal: EngineName,
  prepare: (home: string) => Promise<void> = async () => undefined,
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
    /** As the next start would find them, were this one killed with all its helpers. */
    const allPids = () => {
      const children = JSON.parse(readFileSync(join(home, 'run', 'children.json'), 'utf8'))
      return (children as readonly { pid: number }[]).map(({ pid }) => pid)
    }
    const roles = () =>
      Promise.all(dev().nodes.map(async ({ base_url: url }) => (await nodePart(url)).standby))

    /** By the command of the banner, which works when pasted. */
    async function shownOwner(): Promise<string> {
      const [line] = /COUNTERSIGN_JOURNAL_FILE=.* cluster status/.exec(started.output()) ?? []
      const { stdout } = await promisify(execFile)('sh', ['-c', line ?? ''])
      return stdout
    }

    /** With the trade key of the first start, at one node alone. */
    async function confirmedAt(url: string) {
      return confirmed(url, '/api/tx/send', { to: `0x${'b0'.repeat(20)}`, value: '1' })
    }

    /** The Router takes it by the co-signature of that node's own key. */
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
      expect(await shownOwner()).toContain(`:${new URL(url).port} https://`)
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
      expect(await shownOwner()).toContain(`:${new URL(url).port} https://`)
      // What was killed is back, and waits.
      await expect
        .poll(() => nodePart(before.base_url), IN_TIME)
        .toMatchObject({ http: 200, standby: true, behind: 0, epoch: 2 })
      expect(await confirmedAt(before.base_url)).toMatchObject({ nonce: Number(first.nonce) + 2 })
      expect((await roles()).filter((standby) => standby === true)).toHaveLength(2)
      await expect.poll(() => dev().nodes[0]?.quorum_signer, IN_TIME).not.toBeNull()
      expect(dev().nodes[0]?.quorum_signer).not.toBe(before.pids.quorum_signer)
    })

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
