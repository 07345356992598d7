/** No process commits to an LMDB file while another one opens it: in processes of their own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openLmdb, removeTraces } from '../../src/disk/lmdb-file.js'
import { type GateFiles, openGate } from '../../src/disk/open-gate.js'

const WRITER = fileURLToPath(new URL('fixtures-gated-writer.mjs', import.meta.url))
const WAYS = ['batch', 'transaction', 'child', 'sync', 'aborted', 'put', 'puts']
const CHILD_TIMEOUT_MS = 120_000
/** Commits follow one another in milliseconds. */
const HELD_MS = 500
const OPENINGS = 60
const OPENERS = 3
const GATE_OF = `
  import { join } from 'node:path'
  import { openGate } from './dist/src/disk/open-gate.js'
  const at = (name) => join(process.argv[1], name)
  const gate = openGate({ lock: at('lock.mdb'), opening: at('opening.lock'), commits: at('commits.lock') })
  const rest = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
`

let directory: string
let store: string
let children: ChildProcess[]

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'cs-gate-'))
  store = join(directory, 'store')
  mkdirSync(store)
  children = []
})
afterEach(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
})

function start(...args: readonly string[]) {
  const child = spawn(process.execPath, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    timeout: CHILD_TIMEOUT_MS,
  })
  children.push(child)
  let said = ''
  child.stdout.on('data', (part: Buffer) => {
    said += part
  })
  const until = async (text: string) => {
    while (!said.includes(text)) await once(child.stdout, 'data')
  }
  return { child, until, said: () => said }
}

const run = (code: string) => start('--input-type=module', '-e', GATE_OF + code, store)

async function writerOf(way: string) {
  const writer = start(WRITER, store, way)
  await writer.until('began')
  return {
    async end(): Promise<{ committed: number; lost: number }> {
      writer.child.stdin?.write('end')
      await once(writer.child, 'close')
      return JSON.parse(writer.said().replace('began ', ''))
    },
  }
}

/** Of the newest of the file's two meta pages. */
function lastTransaction(): number {
  const file = openSync(join(store, 'data.mdb'), 'r')
  const at = (offset: number) => {
    const bytes = Buffer.alloc(8)
    readSync(file, bytes, 0, 8, offset)
    return Number(bytes.readBigUInt64LE())
  }
  return Math.max(at(152), at(4_096 + 152))
}

const rest = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

function filesOf(path = store): GateFiles {
  const at = (name: string) => join(path, name)
  return { lock: at('lock.mdb'), opening: at('opening.lock'), commits: at('commits.lock') }
}

/** What is seen while nobody else commits. */
function alone<T>(look: () => T): T {
  const gate = openGate(filesOf())
  try {
    return gate.exclusively(look)
  } finally {
    gate.close()
  }
}

describe('while a process opens a store', () => {
  test.each(WAYS)('no other commits to it: by %s', async (way) => {
    const writer = await writerOf(way)
    const before = lastTransaction()
    for (let times = 0; times < 3; times++) {
      const [first, last] = alone(() => {
        const seen = lastTransaction()
        rest(HELD_MS)
        return [seen, lastTransaction()]
      })
      expect(last).toBe(first)
      await expect.poll(lastTransaction, { timeout: 20_000 }).toBeGreaterThan(first ?? 0)
    }
    const { committed, lost } = await writer.end()
    expect(lost).toBe(0)
    expect(committed).toBeGreaterThan(3)
    expect(lastTransaction()).toBeGreaterThan(before)
  })

  test.each(WAYS)('all that is committed stays, however often: by %s', async (way) => {
    const writer = await writerOf(way)
    const opener = `
      import { openLmdb } from './dist/src/disk/lmdb-file.js'
      for (let times = 0; times < ${OPENINGS}; times++) {
        const root = openLmdb({ path: process.argv[1], maxDbs: 4, readOnly: times % 2 === 0 })
        root.openDB({ name: 'a', encoding: 'binary' }).get(times)
        await root.close()
      }
    `
    const openers = Array.from({ length: OPENERS }, () => run(opener))
    const codes = await Promise.all(openers.map(({ child }) => once(child, 'close')))
    expect(codes.map(([code]) => code)).toEqual(openers.map(() => 0))
    const { committed, lost } = await writer.end()
    expect(lost).toBe(0)
    expect(committed).toBeGreaterThan(0)
  })

  test('it waits for a commit that is under way, and others commit as it waits', async () => {
    const writer = await writerOf('batch')
    const amid = run(`
      if (gate.enter()) process.stdout.write('amid')
      process.stdin.once('data', () => process.exit(0))
    `)
    await amid.until('amid')
    const opener = run(`
      process.stdout.write('wants ')
      gate.exclusively(() => process.stdout.write('alone'))
    `)
    await opener.until('wants')
    const before = lastTransaction()
    await expect.poll(lastTransaction, { timeout: 20_000 }).toBeGreaterThan(before + 3)
    expect(opener.said()).not.toContain('alone')
    amid.child.stdin?.write('end')
    await opener.until('alone')
    expect((await writer.end()).lost).toBe(0)
  })

  test('another thread of the writing process neither waits for long nor keeps it from committing', async () => {
    const code = `
      const { parentPort, workerData } = require('node:worker_threads')
      import(workerData.module).then(async ({ openLmdb }) => {
        for (let times = 0; times < 20; times++) {
          const root = openLmdb({ path: workerData.store, maxDbs: 4 })
          await root.openDB({ name: 'b' }).put(times, times)
          await root.close()
        }
        parentPort.postMessage('done')
      })
    `
    const root = openLmdb({ path: store, maxDbs: 4, overlappingSync: false })
    const space = root.openDB<number, number>({ name: 'a' })
    const module = new URL('../../dist/src/disk/lmdb-file.js', import.meta.url).href
    const threads = [1, 2].map(
      () => new Worker(code, { eval: true, workerData: { store, module } }),
    )
    const done = Promise.all(threads.map((thread) => once(thread, 'message')))
    let isOver = false
    void done.then(() => {
      isOver = true
    })
    let committed = 0
    while (!isOver) await space.put(committed++, 1)
    await done
    expect(space.getCount()).toBe(committed)
    await root.close()
  })
})

test('whoever opens comes to it though many threads commit without a pause, and slowly', async () => {
  const code = `
    const { parentPort, workerData } = require('node:worker_threads')
    import(workerData.module).then(({ openLmdb }) => {
      const root = openLmdb({ path: workerData.store, maxDbs: 4 })
      parentPort.postMessage('began')
      let isOver = false
      parentPort.once('message', () => {
        isOver = true
      })
      const commit = () => {
        root.transactionSync(() => {
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
          void root.put(workerData.thread, 1)
        })
        if (!isOver) setImmediate(commit)
        else root.close()
      }
      commit()
    })
  `
  const module = new URL('../../dist/src/disk/lmdb-file.js', import.meta.url).href
  const threads = [1, 2, 3, 4, 5, 6].map(
    (thread) => new Worker(code, { eval: true, workerData: { store, module, thread } }),
  )
  await Promise.all(threads.map((thread) => once(thread, 'message')))
  const opener = run(`gate.exclusively(() => process.stdout.write('alone'))`)
  await opener.until('alone')
  for (const thread of threads) thread.postMessage('end')
  await Promise.all(threads.map((thread) => once(thread, 'exit')))
})

describe('a process that died', () => {
  test('as it opened holds up no commit', async () => {
    const writer = await writerOf('batch')
    const opener = run(`gate.exclusively(() => {
      process.stdout.write('holds')
      for (;;) rest(1000)
    })`)
    await opener.until('holds')
    const held = lastTransaction()
    opener.child.kill('SIGKILL')
    await expect.poll(lastTransaction, { timeout: 20_000 }).toBeGreaterThan(held)
    expect((await writer.end()).lost).toBe(0)
  })

  test('amid a commit holds up nobody that opens', async () => {
    const amid = run(`
      if (gate.enter()) process.stdout.write('amid')
      setInterval(() => undefined, 1000)
    `)
    await amid.until('amid')
    amid.child.kill('SIGKILL')
    expect(alone(() => 'opened')).toBe('opened')
  })

  test('nor does a thread that was ended amid one, in a process that goes on', async () => {
    const code = `
      const { parentPort, workerData } = require('node:worker_threads')
      import(workerData.module).then(({ openGate }) => {
        openGate(workerData.files).enter()
        parentPort.postMessage('amid')
        setInterval(() => undefined, 1000)
      })
    `
    const module = new URL('../../dist/src/disk/open-gate.js', import.meta.url).href
    const thread = new Worker(code, { eval: true, workerData: { files: filesOf(), module } })
    await once(thread, 'message')
    await thread.terminate()
    expect(alone(() => 'opened')).toBe('opened')
  })
})

describe('a store that is closed', () => {
  test('with writes that were not told of yet lets go of nothing that is another’s', async () => {
    for (let times = 0; times < 20; times++) {
      const path = join(directory, `many-${times}`)
      const options = { path, maxDbs: 4, overlappingSync: false, eventTurnBatching: false }
      const root = openLmdb(options)
      const space = root.openDB<number, number>({ name: 'a' })
      const writes: Promise<boolean>[] = []
      for (let n = 0; n < 20; n++) {
        writes.push(space.put(n, n))
        if (n % 3 === 0) await new Promise(setImmediate)
      }
      await Promise.all(writes)
      await root.close()
      const another = openLmdb(options)
      expect(another.openDB({ name: 'a' }).getCount()).toBe(20)
      await another.close()
    }
  })

  test('is closed while it is open a second time in the thread, and the other one goes on', async () => {
    const [first, second] = [1, 2].map(() => openLmdb({ path: store, maxDbs: 4 }))
    const write = second?.put('a', 1)
    await first?.close()
    await write
    await second?.put('b', 2)
    expect(second?.get('b')).toBe(2)
    await second?.close()
  })

  test('twice is closed, and opening it again waits as ever', async () => {
    const root = openLmdb({ path: store, maxDbs: 4 })
    await root.put('a', 1)
    await root.close()
    await root.close()
    const amid = run(`
      if (gate.enter()) process.stdout.write('amid')
      process.stdin.once('data', () => process.exit(0))
    `)
    await amid.until('amid')
    const opener = run(`
      import { openLmdb } from './dist/src/disk/lmdb-file.js'
      const root = openLmdb({ path: process.argv[1], maxDbs: 4 })
      await root.close()
      await root.close()
      process.stdout.write('twice ')
      process.stdin.once('data', () => {
        openLmdb({ path: process.argv[1], maxDbs: 4 })
        process.stdout.write('opened')
        process.exit(0)
      })
    `)
    amid.child.stdin?.write('end')
    await opener.until('twice')
    const again = run(`
      if (gate.enter()) process.stdout.write('amid')
      process.stdin.once('data', () => process.exit(0))
    `)
    await again.until('amid')
    opener.child.stdin?.write('open')
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    expect(opener.said()).not.toContain('opened')
    again.child.stdin?.write('end')
    await opener.until('opened')
  })

  test('takes no more writes, and touches no other one’s files for them', async () => {
    const late = run(`
      import { openLmdb } from './dist/src/disk/lmdb-file.js'
      const root = openLmdb({ path: process.argv[1], maxDbs: 4 })
      const space = root.openDB({ name: 'a' })
      await space.put(1, 1)
      await root.close()
      const another = openLmdb({ path: join(process.argv[1], 'another'), maxDbs: 4 })
      let refused = 0
      process.on('uncaughtException', () => refused++)
      try {
        space.put(2, 2).catch(() => refused++)
      } catch {
        refused++
      }
      await new Promise((resolve) => setTimeout(resolve, 500))
      process.stdout.write('refused ' + (refused > 0))
      process.stdin.once('data', () => process.exit(0))
    `)
    await late.until('refused true')
    const gate = openGate(filesOf(join(store, 'another')))
    expect(gate.exclusively(() => 'opened')).toBe('opened')
    gate.close()
    late.child.stdin?.write('end')
  })

  test('leaves what locked it, which goes with its traces', async () => {
    const root = openLmdb({ path: store, maxDbs: 4 })
    await root.put('a', 1)
    await root.close()
    const files = ['commits.lock', 'data.mdb', 'lock.mdb', 'opening.lock']
    expect(readdirSync(store).toSorted()).toEqual(files)
    for (const file of files.filter((name) => name.endsWith('.lock'))) {
      expect(statSync(join(store, file)).mode & 0o777).toBe(0o600)
    }
    removeTraces(join(store, 'data.mdb'))
    expect(readdirSync(store)).toEqual(['data.mdb'])
  })
})

test('a copy is not held up by who writes the other', async () => {
  const gate = openGate(filesOf())
  gate.enter()
  const copy = join(directory, 'copy')
  cpSync(store, copy, { recursive: true })
  const own = openGate(filesOf(copy))
  expect(own.exclusively(() => 'opened')).toBe('opened')
  for (const each of [gate, own]) each.close()
})

test('what nobody may write to is opened to be read', async () => {
  const root = openLmdb({ path: store, maxDbs: 4 })
  await root.put('a', 1)
  await root.close()
  removeTraces(join(store, 'data.mdb'))
  for (const path of [directory, store]) chmodSync(path, 0o555)
  chmodSync(join(store, 'data.mdb'), 0o444)
  const other = start(
    ...['--input-type=module', '-e'],
    `
      import { openLmdb } from './dist/src/disk/lmdb-file.js'
      if (process.getuid() === 0) process.setuid(65534)
      const root = openLmdb({ path: process.argv[1], maxDbs: 4, readOnly: true })
      process.stdout.write(String(root.get('a')))
      await root.close()
    `,
    store,
  )
  const [code] = await once(other.child, 'close')
  for (const path of [directory, store]) chmodSync(path, 0o755)
  expect([code, other.said()]).toEqual([0, '1'])
})
