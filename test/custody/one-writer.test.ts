import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Child, startChild } from '../../bench/child-process.js'
import { type SinkStack, startSinkStack } from '../../bench/sink-stack.js'
import { lockMaintenance } from '../../src/custody/home-lock/domain-lock.js'
import { countersign } from './command.js'

/** The processes of one home, as they are started, and what the second one calls the first. */
const DOMAINS = [
  ['service', 'dist/src/main.js', 'the wallet service'],
  ['identity', 'dist/src/identity-provider/main.js', 'the identity provider'],
  ['quorum', 'dist/src/quorum-signer/main.js', 'the quorum signer'],
] as const

let stack: SinkStack
let elsewhere: string
const started: Child[] = []

beforeAll(async () => {
  stack = await startSinkStack({ wallets: 1 })
  elsewhere = mkdtempSync(join(tmpdir(), 'cs-one-'))
  symlinkSync(stack.home, join(elsewhere, 'home'))
}, 60_000)
afterAll(async () => {
  await Promise.all(started.map((child) => child.kill()))
  await stack?.stop()
  rmSync(elsewhere, { recursive: true, force: true })
})

/** Free ports, so that nothing but the home can be in the way. */
function start(entry: string, home: string): Promise<Child> {
  return startChild(entry, { COUNTERSIGN_HOME: home, PORT: '0', IDENTITY_PORT: '0' })
}

describe('a home has one writer of each domain', () => {
  test.each(DOMAINS)('a second %s ends and names the first', async (domain, entry, name) => {
    const sentence = `in use by ${name}, pid ${stack.pids[domain]}, since 20`
    for (const home of [stack.home, join(elsewhere, 'home'), join(stack.home, 'run', '..')]) {
      const failure = await start(entry, home).catch((error: Error) => error)
      expect(failure).toBeInstanceOf(Error)
      expect((failure as Error).message).toContain('ended with 1')
      expect((failure as Error).message).toContain(`${stack.home} is ${sentence}`)
      expect((failure as Error).message).toContain('Stop that one first')
    }
  })

  test('what a killed process left is in no other’s way, at once', async () => {
    await stack.restartService()
    await expect(start('dist/src/main.js', stack.home)).rejects.toThrow(`pid ${stack.pids.service}`)
  })

  test('a restore waits for a domain to be at rest', async () => {
    for (const [domain, pid] of [
      ['service', stack.pids.service],
      ['user', stack.pids.identity],
    ] as const) {
      const args = ['custody', 'restore', '--domain', domain, '--from', elsewhere]
      const { code, stderr } = await countersign(stack.home, args)
      expect(code).toBe(1)
      expect(stderr).toContain(`pid ${pid}, since 20`)
      expect(stderr).toContain('wants the domain at rest')
    }
  })

  test('commands over one domain’s stores take turns', async () => {
    const lock = lockMaintenance(stack.home, 'service', 'custody backup')
    try {
      const commands = [
        ['backup', '--domain', 'service', '--to', join(elsewhere, 'backup')],
        ['check', '--domain', 'service'],
        ['rotate-wrapping-keys', '--domain', 'service'],
        ['rotate-cosigner', '--draft', join(elsewhere, 'draft.json')],
        ['refresh-shares'],
      ]
      for (const command of commands) {
        const { code, stderr } = await countersign(stack.home, ['custody', ...command])
        expect([command[0], code]).toEqual([command[0], 1])
        expect(stderr).toContain(`in use by countersign custody backup, pid ${process.pid}`)
      }
    } finally {
      lock.release()
    }
    const { code } = await countersign(stack.home, ['custody', 'check', '--domain', 'service'])
    expect(code).toBe(0)
  })
})

describe('two starts at the same moment', () => {
  test('leave one quorum signer, which answers', async () => {
    const home = mkdtempSync(join(tmpdir(), 'cs-one-'))
    try {
      for (const part of ['quorum-signer', 'registry.json']) {
        cpSync(join(stack.home, part), join(home, part), { recursive: true })
      }
      writeFileSync(join(home, 'chains.json'), '{"chains":[]}')
      const entry = 'dist/src/quorum-signer/main.js'
      const starts = await Promise.allSettled([1, 2, 3].map(() => start(entry, home)))
      const running = starts.flatMap((it) => (it.status === 'fulfilled' ? [it.value] : []))
      started.push(...running)
      expect(running).toHaveLength(1)
      for (const one of starts) {
        if (one.status === 'rejected') expect(String(one.reason)).toContain('the quorum signer')
      }
    } finally {
      await Promise.all(started.splice(0).map((child) => child.kill()))
      rmSync(home, { recursive: true, force: true })
    }
  })
})
