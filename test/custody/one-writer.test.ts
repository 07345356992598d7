import { execFile } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
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
})
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

  test('what a domain writes is its user’s alone, whatever the umask it is started under', () => {
    const open = ['service', 'identity-provider'].flatMap((directory) =>
      readdirSync(join(stack.home, directory), { recursive: true, encoding: 'utf8' }).filter(
        (path) =>
          !path.endsWith('.pub.pem') &&
          (statSync(join(stack.home, directory, path)).mode & 0o077) !== 0,
      ),
    )
    expect(open).toEqual([])
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
      expect(stderr).toContain('needs the domain stopped')
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

describe('a lock file', () => {
  let home: string
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'cs-one-'))
    for (const part of ['quorum-signer', 'registry.json']) {
      cpSync(join(stack.home, part), join(home, part), { recursive: true })
    }
    mkdirSync(join(home, 'run'))
  })
  afterEach(async () => {
    await Promise.all(started.splice(0).map((child) => child.kill()))
    rmSync(home, { recursive: true, force: true })
  })
  const signer = async (): Promise<Child> => {
    const child = await start('dist/src/quorum-signer/main.js', home)
    started.push(child)
    return child
  }
  const lockFile = () => join(home, 'run', 'quorum-signer.lock')

  test.each<[string, () => void]>([
    ['removed', () => {}],
    ['replaced', () => writeFileSync(lockFile(), '')],
  ])('that was %s ends the process that held it', async (_, replace) => {
    const first = await signer()
    rmSync(lockFile())
    replace()
    const second = await signer()
    await expect.poll(() => isRunning(first.pid), { timeout: 60_000 }).toBe(false)
    expect(isRunning(second.pid)).toBe(true)
  })

  test('with a second name, as a copy by hard links has it, is refused with what to do', async () => {
    writeFileSync(lockFile(), '')
    linkSync(lockFile(), join(home, 'run', 'copy.lock'))
    await expect(signer()).rejects.toThrow(
      /has 2 names.*replace the copy with a full one \(cp -a\)/,
    )
  })

  test('that is somebody else’s is named, with whose it is and what to do', async () => {
    writeFileSync(lockFile(), '')
    chmodSync(lockFile(), 0)
    const closed = await lockAsAnother(lockFile())
    expect(closed).toMatch(/^NoLock: .*\(EACCES\): it belongs to uid \d+\. .*remove it while no/)
    rmSync(lockFile())
    mkdirSync(lockFile())
    await expect(signer()).rejects.toThrow(/cannot be opened .*\(EISDIR\).*remove it while no/)
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
        // The name of the first is there a moment after its lock, and later on a busy machine.
        const named = /in use by (the quorum signer, pid|another process that has only just)/
        if (one.status === 'rejected') expect(String(one.reason)).toMatch(named)
      }
    } finally {
      await Promise.all(started.splice(0).map((child) => child.kill()))
      rmSync(home, { recursive: true, force: true })
    }
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

/** What a process without root's powers is told when it takes the lock. */
async function lockAsAnother(path: string): Promise<string> {
  const module = pathToFileURL(resolve('dist/src/custody/home-lock/kernel-lock.js')).href
  const program = `
    const { takeLock } = await import(${JSON.stringify(module)})
    chmodSync(${JSON.stringify(dirname(dirname(path)))}, 0o755)
    chmodSync(${JSON.stringify(dirname(path))}, 0o755)
    if (process.geteuid() === 0) process.seteuid(65534)
    try { takeLock(${JSON.stringify(path)}, 'a test') } catch (error) { console.log(String(error)) }`
  const source = `import { chmodSync } from 'node:fs'\n${program}`
  const args = ['--input-type=module', '-e', source]
  return (await promisify(execFile)(process.execPath, args)).stdout
}
