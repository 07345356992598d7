import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Io } from '../../src/cli/io.js'
import { runProgram } from '../../src/cli/program.js'
import { lockMaintenance } from '../../src/custody/home-lock/domain-lock.js'
import { DAY_MS } from '../../src/domain/retention.js'
import { openEnvironment } from '../../src/store/environment.js'
import { attachEventSequence, createEventSequenceBuffer } from '../../src/store/event-sequence.js'
import { localCommits } from '../../src/store/local-commits.js'
import { createReader } from '../../src/store/reader.js'
import { WriteBatch } from '../../src/store/write-batch.js'
import { entryAt, newEvent } from '../actors/retention-world.js'
import { USER_ID } from '../actors/wallet-fixtures.js'
import { chainConfig } from '../support/chain-config.js'
import { startScriptedNode } from '../support/scripted-node.js'

let home: string
const storeDirectory = () => join(home, 'service', 'store')

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'retention-cli-'))
})
afterEach(() => rm(home, { recursive: true, force: true }))

async function run(...args: readonly string[]) {
  let out = ''
  let err = ''
  const io: Io = {
    env: { COUNTERSIGN_HOME: home },
    out: (text) => {
      out += text
    },
    err: (text) => {
      err += text
    },
    isInteractive: false,
  }
  const code = await runProgram(io, ['retention', ...args])
  return { code, out, err }
}

/** Two old events and an old entry, and one of each from now. */
async function fillStore(): Promise<void> {
  const environment = openEnvironment(storeDirectory())
  const nowMs = Date.now()
  const oldMs = nowMs - 100 * DAY_MS
  const batch = new WriteBatch()
  for (const atMs of [oldMs, nowMs]) batch.appendAudit(entryAt(atMs))
  const sequence = attachEventSequence(createEventSequenceBuffer(), () => true)
  await localCommits(environment, sequence).commit(batch)
  for (const atMs of [oldMs, oldMs, nowMs]) {
    const one = new WriteBatch()
    one.appendEvent(newEvent(atMs))
    await localCommits(environment, sequence).commit(one)
  }
  await environment.root.close()
}

async function left(): Promise<{ readonly events: number; readonly audit: number }> {
  const environment = openEnvironment(storeDirectory())
  const reader = createReader(environment)
  const events = [...reader.events.ofUser(USER_ID, 0, Number.MAX_SAFE_INTEGER)].length
  const trail = reader.audit.ofUser(USER_ID, { limit: 10, cursor: null }, () => true)
  await environment.root.close()
  return { events, audit: trail.items.length }
}

describe('retention', () => {
  it('counts first, removes what its options name, and nothing else', async () => {
    await fillStore()
    const counted = await run('--json', '--events-days', '30', '--dry-run')
    expect(counted.code).toBe(0)
    const said = { deliveries: 0, events: 2, audit: 0, users_held_back: 0 }
    expect(JSON.parse(counted.out)).toEqual({ ...said, dry_run: true })
    expect(await left()).toEqual({ events: 3, audit: 2 })
    const removed = await run('--json', '--events-days', '30', '--trust-clock')
    expect(JSON.parse(removed.out)).toEqual({ ...said, dry_run: false })
    expect(await left()).toEqual({ events: 1, audit: 2 })
    expect((await run('--audit-days', '30', '--trust-clock')).out).toMatch(/audit +1\n/)
    expect(await left()).toEqual({ events: 1, audit: 1 })
  })

  it('wants to be told what to remove, and where', async () => {
    expect(await run()).toMatchObject({ code: 2 })
    expect(await run('--events-days', '0')).toMatchObject({ code: 2 })
    const nowhere = await run('--events-days', '30')
    expect(nowhere).toMatchObject({ code: 2 })
    expect(nowhere.err).toContain('there is no store')
  })

  it('explains itself', async () => {
    const { code, out } = await run('--help')
    expect(code).toBe(0)
    for (const word of ['--events-days', '--dry-run', 'Never removed']) expect(out).toContain(word)
  })

  it('removes nothing by a clock that the newest blocks do not bear out', async () => {
    await fillStore()
    let blockMs = Date.now() - 2 * DAY_MS
    const node = await startScriptedNode(8453, () => ({
      hash: '0x01',
      timestamp: `0x${Math.floor(blockMs / 1_000).toString(16)}`,
    }))
    const chains = [chainConfig(8453, { rpc_urls: [node.url] })]
    await writeFile(join(home, 'chains.json'), JSON.stringify({ chains }))
    try {
      const ahead = await run('--events-days', '30')
      expect(ahead).toMatchObject({ code: 2 })
      expect(ahead.err).toMatch(/clock is \d+ s ahead of the newest blocks/)
      expect(await left()).toEqual({ events: 3, audit: 2 })
      blockMs = Date.now()
      expect(await run('--events-days', '30')).toMatchObject({ code: 0 })
      expect(await left()).toEqual({ events: 1, audit: 2 })
    } finally {
      await node.close()
    }
    const unheard = await run('--audit-days', '30')
    expect(unheard).toMatchObject({ code: 2 })
    expect(unheard.err).toContain('--trust-clock')
    expect(await left()).toEqual({ events: 1, audit: 2 })
  })

  it('waits for no other command: it says who is at work', async () => {
    await fillStore()
    const lock = lockMaintenance(home, 'service', 'another command')
    try {
      const refused = await run('--events-days', '30', '--trust-clock')
      expect(refused.code).not.toBe(0)
      expect(refused.err).toContain('another command')
    } finally {
      lock.release()
    }
    expect(await left()).toEqual({ events: 3, audit: 2 })
  })
})
