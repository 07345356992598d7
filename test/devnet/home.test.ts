import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { homeOwner, lockHome } from '../../scripts/dev/home/instance-lock.js'
import { type DevHome, devHome, prepareHome } from '../../scripts/dev/home/layout.js'
import { identifyProcess, isRunning } from '../../scripts/dev/supervision/process-identity.js'
import { scratchDir } from './support/observer.js'

describe('a development home', () => {
  let scratch: ReturnType<typeof scratchDir>
  let home: DevHome

  beforeEach(() => {
    scratch = scratchDir()
    home = devHome({ COUNTERSIGN_HOME: join(scratch.path, 'home') })
  })
  afterEach(() => scratch.dispose())

  test('is made with lists already in it', () => {
    mkdirSync(home.lists, { recursive: true })
    writeFileSync(join(home.lists, 'mine.txt'), '')
    prepareHome(home)
    prepareHome(home)
    expect(readdirSync(home.root)).toEqual(
      expect.arrayContaining(['.countersign-home', 'chains', 'lists', 'logs', 'run']),
    )
  })

  test("is never made of somebody else's directory", () => {
    mkdirSync(home.root)
    writeFileSync(join(home.root, 'thesis.tex'), '')
    expect(() => prepareHome(home)).toThrow(/not a Countersign home \(it holds thesis.tex\)/)
  })

  test('that lies too deep for unix sockets is refused with the reason', () => {
    const deep = devHome({ COUNTERSIGN_HOME: join(scratch.path, 'x'.repeat(100)) })
    expect(() => prepareHome(deep)).toThrow(/too deep for unix sockets/)
  })

  test('is used by one instance at a time', () => {
    prepareHome(home)
    const lock = lockHome(home, 'npm start')
    expect(() => lockHome(home, 'npm start')).toThrow(
      `in use by npm start, pid ${process.pid}, since `,
    )
    lock.release()
    lockHome(home, 'npm start').release()
  })

  test('is not locked by an instance that died, whoever has its pid now', () => {
    prepareHome(home)
    const stale = { name: 'npm start', pid: process.pid, host: hostname(), since: 'long ago' }
    writeFileSync(join(home.run, 'instance.lock'), JSON.stringify(stale))
    expect(homeOwner(home)).toBeNull()
    const lock = lockHome(home, 'npm start')
    expect(homeOwner(home)).toMatch(new RegExp(`^npm start, pid ${process.pid}, since 20`))
    lock.release()
  })

  test('ends what an earlier instance left running', async () => {
    prepareHome(home)
    const orphan = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
    const ended = new Promise((resolve) => orphan.once('exit', (_, signal) => resolve(signal)))
    const identity = identifyProcess(orphan.pid ?? 0)
    writeFileSync(join(home.run, 'children.json'), JSON.stringify([identity]))
    lockHome(home, 'npm start').release()
    expect(await ended).toBe('SIGKILL')
  })

  test('spares a process that merely has the pid of one it left running', async () => {
    prepareHome(home)
    const bystander = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
    try {
      const identity = identifyProcess(bystander.pid ?? 0)
      if (identity === null) throw new Error('the bystander is not running')
      const another = { ...identity, startedAt: `${identity.startedAt}0` }
      writeFileSync(join(home.run, 'children.json'), JSON.stringify([another]))
      lockHome(home, 'npm start').release()
      expect(isRunning(identity)).toBe(true)
    } finally {
      bystander.kill('SIGKILL')
    }
  })
})
