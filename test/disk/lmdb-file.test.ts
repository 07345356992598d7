import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openLmdb, requireLmdbFile } from '../../src/disk/lmdb-file.js'

const PAGE_BYTES = 4_096
const KILLS = 4
const CHILD_TIMEOUT_MS = 120_000
/** A thread that makes a file is kept from it for seconds where the machine is busy. */
const MAKING_MS_MAX = 30_000
const RACES = 20
const OPENERS = 4
const LMDB_FILE = pathToFileURL(resolve('dist/src/disk/lmdb-file.js')).href

let directory: string
let children: ChildProcess[]

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'cs-lmdb-'))
  children = []
})

afterEach(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(directory, { recursive: true, force: true })
})

/** A process of its own, since what goes wrong with LMDB ends it. */
function run(code: string, ...args: string[]): ChildProcess {
  const preamble = `
    import { openLmdb } from './dist/src/disk/lmdb-file.js'
    const [path, ...rest] = process.argv.slice(1)
    const space = (root) => root.openDB({ name: 'a', encoding: 'binary' })
  `
  const child = spawn(
    process.execPath,
    ['--input-type=module', '-e', preamble + code, directory, ...args],
    { stdio: ['ignore', 'pipe', 'pipe'], timeout: CHILD_TIMEOUT_MS },
  )
  children.push(child)
  return child
}

const WRITE = `
  const root = openLmdb({ path, overlappingSync: false, maxDbs: 4 })
  const records = space(root)
  for (let n = 0; ; n++) {
    await root.batch(() => {
      for (let i = 0; i < 200; i++) {
        const key = (n * 7919 + i * 31) % 3000
        if ((n + i) % 3 === 0) records.remove(key)
        else records.put(key, Buffer.alloc(i % 40 === 0 ? 9000 : 120, n))
      }
    })
    if (n === 5) process.stdout.write('busy')
  }
`

/**
 * Opens and reads everything, for each length a copy of the file is cut to; says how each went.
 * Nobody makes these files, so nobody is waited for.
 */
const READ = `
  import { copyFileSync, mkdirSync, truncateSync } from 'node:fs'
  for (const length of rest) {
    const cut = path + '/cut-' + length
    mkdirSync(cut)
    copyFileSync(path + '/data.mdb', cut + '/data.mdb')
    truncateSync(cut + '/data.mdb', Number(length))
    try {
      const root = openLmdb({ path: cut, overlappingSync: false, maxDbs: 4 }, 20)
      let sum = 0
      for (const { value } of space(root).getRange({})) sum += value.length
      await root.close()
      console.log('read ' + sum)
    } catch (error) {
      console.log(error.message)
    }
  }
`

async function outcomes(lengths: readonly number[]): Promise<string[]> {
  const child = run(READ, ...lengths.map(String))
  let out = ''
  child.stdout?.on('data', (chunk: Buffer) => (out += chunk.toString()))
  const [code, signal] = await once(child, 'close')
  expect({ code, signal }).toEqual({ code: 0, signal: null })
  return out.trim().split('\n')
}

async function fill(records: number): Promise<void> {
  const root = openLmdb({ path: directory, overlappingSync: false, maxDbs: 4 })
  const space = root.openDB<Buffer, number>({ name: 'a', encoding: 'binary' })
  for (let from = 0; from < records; from += 100) {
    await root.batch(() => {
      for (let n = from; n < from + 100; n++) {
        void space.put(n, Buffer.alloc(n % 50 === 0 ? 9_000 : 100))
      }
    })
  }
  await root.close()
}

const file = () => join(directory, 'data.mdb')

describe('an LMDB file that is healthy', () => {
  test('is opened, however often its process was killed while it wrote', async () => {
    for (let kill = 0; kill < KILLS; kill++) {
      const child = run(WRITE)
      let errors = ''
      child.stderr?.on('data', (chunk: Buffer) => (errors += chunk.toString()))
      await once(child.stdout as NodeJS.ReadableStream, 'data')
      // While it commits, the file changes under whoever looks.
      for (let look = 0; look < 200; look++) requireLmdbFile(file())
      child.kill('SIGKILL')
      const [, signal] = await once(child, 'close')
      expect({ signal, errors }).toEqual({ signal: 'SIGKILL', errors: '' })
      const [read] = await outcomes([statSync(file()).size])
      expect(read).toMatch(/^read \d+$/)
      rmSync(join(directory, `cut-${statSync(file()).size}`), { recursive: true })
    }
  }, 240_000)

  test('is opened where pages at its end are free and were never written', async () => {
    await fill(3_000)
    const root = openLmdb({ path: directory, overlappingSync: false, maxDbs: 4 })
    const space = root.openDB<Buffer, number>({ name: 'a', encoding: 'binary' })
    await root.batch(() => {
      for (let n = 20; n < 3_000; n++) void space.remove(n)
    })
    for (let round = 0; round < 8; round++) await space.put(1, Buffer.alloc(10, round))
    await root.close()
    const { size } = statSync(file())
    const lengths = Array.from({ length: 24 }, (_, i) => size - i * PAGE_BYTES)
    const found = await outcomes(lengths)
    const [all, shorter] = found
    expect(all).toMatch(/^read \d+$/)
    expect(shorter).toBe(all)
    for (const one of found)
      expect([all, expect.stringContaining('is truncated')]).toContainEqual(one)
  })
})

describe('an LMDB file that another thread makes', () => {
  test('is opened once it is there', async () => {
    await fill(100)
    const whole = readFileSync(file())
    truncateSync(file(), 0)
    const begun = new Int32Array(new SharedArrayBuffer(4))
    // Not by a timer of this thread, which `openLmdb` blocks.
    const maker = new Worker(
      `const { writeFileSync } = require('node:fs')
       const { begun, path, whole } = require('node:worker_threads').workerData
       Atomics.wait(begun, 0, 0)
       Atomics.wait(begun, 0, 1, 100)
       writeFileSync(path, whole)`,
      { eval: true, workerData: { begun, path: file(), whole } },
    )
    const ended = once(maker, 'exit')
    await once(maker, 'online')
    Atomics.store(begun, 0, 1)
    Atomics.notify(begun, 0)
    const options = { path: directory, overlappingSync: false, maxDbs: 4 }
    const root = openLmdb(options, MAKING_MS_MAX)
    const space = root.openDB<Buffer, number>({ name: 'a', encoding: 'binary' })
    expect(space.getCount()).toBe(100)
    await root.close()
    await ended
  })

  test('is opened by however many make it at once', async () => {
    for (let round = 0; round < RACES; round++) {
      const path = join(directory, String(round))
      const openers = Array.from({ length: OPENERS }, () => {
        const child = new Worker(
          `const { path, makingMsMax, module } = require('node:worker_threads').workerData
           import(module).then(({ openLmdb }) =>
             openLmdb({ path, overlappingSync: false, maxDbs: 4 }, makingMsMax).close())`,
          { eval: true, workerData: { path, makingMsMax: MAKING_MS_MAX, module: LMDB_FILE } },
        )
        return once(child, 'exit')
      })
      expect(await Promise.all(openers)).toEqual(Array(OPENERS).fill([0]))
    }
  })
})

describe('an LMDB file that is truncated', () => {
  test('at any length ends with a sentence that names it, and never by a signal', async () => {
    await fill(2_000)
    const { size } = statSync(file())
    const lengths = [0, 1, 100, 4_096, 5_000, 8_192, 8_193, size - 1, size - PAGE_BYTES]
    for (let i = 1; i < 40; i++) lengths.push(Math.floor((size * i) / 40))
    const all = (await outcomes([size]))[0]
    rmSync(join(directory, `cut-${size}`), { recursive: true })
    const found = await outcomes([...new Set(lengths)])
    expect(found).toHaveLength(new Set(lengths).size)
    const sentence =
      /data\.mdb (is empty|is not an LMDB file, or is incomplete|is truncated or damaged)/
    for (const one of found) if (one !== all) expect(one).toMatch(sentence)
    expect(found.filter((one) => one !== all).length).toBeGreaterThan(40)
  })

  test('is not taken for a new one when nothing is left', () => {
    copyFileSync(process.execPath, file())
    truncateSync(file(), 0)
    expect(() => requireLmdbFile(file())).toThrow(/data\.mdb is empty/)
  })
})
