import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type SinkStack, startSinkStack } from '../../bench/sink-stack.js'
import { runProgram } from '../../src/cli/program.js'
import { httpClient } from '../support/http-client.js'
import { type JournalCluster, startJournalCluster } from './journal-cluster.js'

const CALLERS = 4
const GOES_ON = { timeout: 60_000 }

/** A whole service whose commits go to a cluster of three nodes first. */
describe('a service with a journal in Restate', () => {
  let directory: string
  let journal: JournalCluster
  let stack: SinkStack
  const acknowledged: { readonly caller: number; readonly id: string }[] = []

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'cs-restate-'))
    journal = await startJournalCluster(directory)
    stack = await startSinkStack({ wallets: CALLERS, env: journal.env })
  })
  afterAll(async () => {
    await stack?.stop()
    await journal?.remove()
    rmSync(directory, { recursive: true, force: true })
  })

  const client = (caller: number) =>
    httpClient(stack.baseUrl, { 'x-api-key': stack.secrets[caller] ?? '' })

  /** Each caller sends until told to stop; what fails on the way was not acknowledged. */
  function underLoad(): { stop(): Promise<void> } {
    let isOver = false
    const callers = Array.from({ length: CALLERS }, async (_, caller) => {
      while (!isOver) {
        const reply = await client(caller)
          .post('/api/tx/send', {
            chain_id: stack.chainId,
            to: `0x${randomBytes(20).toString('hex')}`,
            value: '1',
          })
          .catch(() => null)
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

  async function goesOn(): Promise<void> {
    const before = acknowledged.length
    await expect.poll(() => acknowledged.length, GOES_ON).toBeGreaterThan(before + 20)
  }

  async function expectAllKnown(): Promise<void> {
    const missing: string[] = []
    for (const { caller, id } of acknowledged) {
      if ((await client(caller).get(`/api/tx/${id}`)).status !== 200) missing.push(id)
    }
    expect(missing).toEqual([])
  }

  async function cluster(command: string): Promise<Readonly<Record<string, unknown>>> {
    let out = ''
    const io = {
      env: { ...journal.env, COUNTERSIGN_HOME: stack.home },
      out: (text: string) => {
        out += text
      },
      err: () => undefined,
      isInteractive: false,
    }
    expect(await runProgram(io, ['--json', 'cluster', command])).toBe(0)
    return JSON.parse(out) as Readonly<Record<string, unknown>>
  }

  async function losesItsStore(): Promise<void> {
    const store = join(stack.home, 'service', 'store')
    process.kill(stack.pids.service, 'SIGKILL')
    await stack.restartService(async () => {
      expect(existsSync(join(store, 'data.mdb'))).toBe(true)
      rmSync(store, { recursive: true })
    })
  }

  test('comes back with every acknowledged send when it is killed and its store is gone, by entries and by a snapshot', async () => {
    const load = underLoad()
    await goesOn()
    await losesItsStore()
    await goesOn()
    const made = await cluster('snapshot')
    await goesOn()
    await losesItsStore()
    expect(stack.serviceSaid()).toContain('the store is restored')
    await goesOn()
    await load.stop()
    await expectAllKnown()
    const { snapshot_entry: entry, entries, engine_bytes: bytes } = await cluster('status')
    expect(entry).toBe(made.snapshot_entry)
    expect(Number(entries)).toBeGreaterThan(Number(entry))
    expect(bytes).toBeNull()
  })

  test('goes on when a node of the cluster is killed, and says where its journal is', async () => {
    const load = underLoad()
    await goesOn()
    for (const node of journal.cluster.nodes) {
      await node.kill()
      await goesOn()
      await node.start()
    }
    await load.stop()
    await expectAllKnown()
    expect(await cluster('status')).toMatchObject({ epoch: 3, taken_over: false })
  })
})
