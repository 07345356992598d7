/** No process commits to an LMDB file while another one opens it: in processes of their own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openLmdb } from '../../src/disk/lmdb-file.js'
import { openGate } from '../../src/disk/open-gate.js'
import { ownMark } from '../../src/disk/process-mark.js'

const WRITER = fileURLToPath(new URL('fixtures-gated-writer.mjs', import.meta.url))
const WAYS = ['batch', 'transaction', 'sync', 'put', 'puts']
const CHILD_TIMEOUT_MS = 120_000
/** Commits follow one another in milliseconds. */
const HELD_MS = 500
const OPENINGS = 60
const OPENERS = 3
/** A process id that none has: beyond the highest that Linux gives. */
const NOBODY = 2 ** 23

let directory: string
let store: string
let children: ChildProcess[]

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'cs-gate-'))
  store = join(directory, 'store')
  children = []
})
afterEach(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(directory, { recursive: true, force: true })
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

/** Of a file without encryption: the newest of its two meta pages. */
function lastTransaction(): number {
  const file = openSync(join(store, 'data.mdb'), 'r')
  const at = (offset: number) => {
    const bytes = Buffer.alloc(8)
    readSync(file, bytes, 0, 8, offset)
    return Number(bytes.readBigUInt64LE())
  }
  return Math.max(at(152), at(4_096 + 152))
}

const sleep = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
const gateOf = () => openGate(join(store, 'gate'))
const run = (code: string, ...args: readonly string[]) =>
  start('--input-type=module', '-e', code, ...args)
const HOLDS = `
  import { openGate } from './dist/src/disk/open-gate.js'
  openGate(process.argv[1]).exclusively(() => {
    process.stdout.write('holds')
    for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000)
  })
`

describe('while a process opens a store', () => {
  test.each(WAYS)('no other commits to it: by %s', async (way) => {
    const writer = await writerOf(way)
    const before = lastTransaction()
    for (let times = 0; times < 3; times++) {
      const [first, last] = gateOf().exclusively(() => {
        const seen = lastTransaction()
        sleep(HELD_MS)
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

  test.each(WAYS)('nothing is lost, however often: by %s', async (way) => {
    const writer = await writerOf(way)
    const opener = `
      import { openLmdb } from './dist/src/disk/lmdb-file.js'
      for (let times = 0; times < ${OPENINGS}; times++) {
        const root = openLmdb({ path: process.argv[1], maxDbs: 4, readOnly: times % 2 === 0 })
        root.openDB({ name: 'a', encoding: 'binary' }).get(times)
        await root.close()
      }
    `
    const openers = Array.from({ length: OPENERS }, () => run(opener, store))
    const codes = await Promise.all(openers.map(({ child }) => once(child, 'close')))
    expect(codes.map(([code]) => code)).toEqual(openers.map(() => 0))
    expect((await writer.end()).lost).toBe(0)
  })

  test('it waits for a commit that is under way', async () => {
    const amid = run(
      `
        import { openLmdb } from './dist/src/disk/lmdb-file.js'
        const root = openLmdb({ path: process.argv[1], maxDbs: 4 })
        root.transactionSync(() => {
          process.stdout.write('amid')
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${3 * HELD_MS})
          void root.put('a', 1)
        })
      `,
      store,
    )
    await amid.until('amid')
    const before = lastTransaction()
    expect(gateOf().exclusively(lastTransaction)).toBeGreaterThan(before)
  })
})

describe('a process that died', () => {
  test('as it opened holds up no commit', async () => {
    const writer = await writerOf('batch')
    const opener = run(HOLDS, join(store, 'gate'))
    await opener.until('holds')
    const held = lastTransaction()
    opener.child.kill('SIGKILL')
    await once(opener.child, 'close')
    await expect.poll(lastTransaction, { timeout: 20_000 }).toBeGreaterThan(held)
    expect(readdirSync(join(store, 'gate')).filter((name) => !name.startsWith('writer'))).toEqual(
      [],
    )
    expect((await writer.end()).lost).toBe(0)
  })

  test('as it opened holds up nobody that opens', async () => {
    openGate(join(directory, 'gate'))
    const opener = run(HOLDS, join(directory, 'gate'))
    await opener.until('holds')
    opener.child.kill('SIGKILL')
    await once(opener.child, 'close')
    expect(openGate(join(directory, 'gate')).exclusively(() => 'opened')).toBe('opened')
  })

  test('amid a commit holds up nobody that opens, and leaves nothing', async () => {
    const amid = run(
      `
        import { openGate } from './dist/src/disk/open-gate.js'
        openGate(process.argv[1]).writer().enter()
        process.stdout.write('amid')
        setInterval(() => undefined, 1000)
      `,
      join(directory, 'gate'),
    )
    await amid.until('amid')
    amid.child.kill('SIGKILL')
    await once(amid.child, 'close')
    expect(openGate(join(directory, 'gate')).exclusively(() => 'opened')).toBe('opened')
    expect(readdirSync(join(directory, 'gate'))).toEqual([])
  })
})

test('a writer in a container of its own is waited for, as nobody here can tell whether it lives', async () => {
  const gate = join(directory, 'gate')
  openGate(gate).writer().close()
  const [boot] = ownMark().split('.')
  const [place] = markedPlace(gate)
  const file = join(gate, `writer.${place}.${boot}.1.${NOBODY}.1.0.1`)
  writeFileSync(file, '1')
  const opener = run(HOLDS, gate)
  const first = await Promise.race([
    opener.until('holds').then(() => 'holds'),
    new Promise((resolve) => setTimeout(resolve, 2_000, 'waits')),
  ])
  expect(first).toBe('waits')
  writeFileSync(file, '0')
  await opener.until('holds')
})

function markedPlace(gate: string): readonly string[] {
  const writer = openGate(gate).writer()
  const [name = ''] = readdirSync(gate).filter((one) => one.startsWith('writer.'))
  writer.close()
  return name.split('.').slice(1)
}

test('what was copied with a store counts for nothing there', () => {
  const gate = join(directory, 'gate')
  const writer = openGate(gate).writer()
  writer.enter()
  const copy = join(directory, 'copy')
  openGate(gate).exclusively(() => cpSync(gate, copy, { recursive: true, verbatimSymlinks: true }))
  const copied = readdirSync(copy)
  expect(copied).toHaveLength(2)
  expect(openGate(copy).exclusively(() => 'opened')).toBe('opened')
  writer.close()
})

test('a store is closed without a trace of who wrote it', async () => {
  const root = openLmdb({ path: store, maxDbs: 4 })
  await root.put('a', 1)
  expect(readdirSync(join(store, 'gate'))).toHaveLength(1)
  await root.close()
  expect(readdirSync(join(store, 'gate'))).toEqual([])
  expect(existsSync(`${store}-gate`)).toBe(false)
})
