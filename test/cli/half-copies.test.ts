import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { clearHalfMade } from '../../scripts/dev/cluster/node-home.js'
import { devHome } from '../../scripts/dev/home/layout.js'
import { createBackup } from '../../src/cli/backup/create-backup.js'
import { beginCopy } from '../../src/cli/backup/half-copies.js'
import { makeNodeHome } from '../../src/cli/operator/make-node-home.js'
import { goneProcess } from '../support/ended-process.js'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'cs-half-'))
})
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(directory, { recursive: true, force: true })
})

/** With a key in it, as a process leaves it that is killed. */
function halfCopy(...path: readonly string[]): string {
  const half = join(directory, ...path)
  mkdirSync(half, { recursive: true })
  writeFileSync(join(half, 'signing.pem'), 'a private key')
  return half
}

describe('what a killed copy left, private keys among it', () => {
  test('is gone once the copy is begun again, and nothing else is', async () => {
    const gone = await goneProcess()
    const left = [halfCopy(`home.${gone}.partial`), halfCopy(`home.${process.pid}.partial`)]
    const others = [
      halfCopy(`home.${process.ppid}.partial`),
      halfCopy(`other.${gone}.partial`),
      halfCopy(`home.${gone}`),
    ]
    const begun = beginCopy(join(directory, 'home'))
    expect(left.filter((path) => existsSync(join(path, 'signing.pem')))).toEqual([])
    expect(others.filter((path) => !existsSync(path))).toEqual([])
    expect(existsSync(begun)).toBe(true)
  })

  test('is gone of every node once a cluster starts, be it of that size or not', async () => {
    const gone = await goneProcess()
    const left = [halfCopy('nodes', `2.${gone}.partial`), halfCopy('nodes', `7.${gone}.partial`)]
    const node = halfCopy('nodes', '3')
    clearHalfMade(devHome({ COUNTERSIGN_HOME: directory }))
    expect(left.filter((path) => existsSync(path))).toEqual([])
    expect(existsSync(node)).toBe(true)
  })
})

describe('whoever makes directories beside a copy', () => {
  test('has no backup made in one of his, whose name can be foretold', async () => {
    const home = join(directory, 'home')
    mkdirSync(home)
    writeFileSync(join(home, 'chains.json'), '{}')
    const his = join(directory, 'his')
    mkdirSync(his)
    symlinkSync(his, join(directory, `copy.${process.pid}.partial`))
    vi.spyOn(process, 'geteuid').mockReturnValue((process.geteuid?.() ?? 0) + 1)
    const to = join(directory, 'copy')
    const options = { home, to, parts: null, keys: 'in-clear', progress: () => {} } as const
    await expect(createBackup(options)).rejects.toThrow('EEXIST')
    expect(readdirSync(his)).toEqual([])
    expect(existsSync(to)).toBe(false)
  })
})

test('the home of another user is no other node made of, whose files would be root’s', async () => {
  const home = join(directory, 'home')
  mkdirSync(join(home, 'service'), { recursive: true })
  const own = process.geteuid?.() ?? 0
  vi.spyOn(process, 'geteuid').mockReturnValue(own + 1)
  await expect(makeNodeHome(home, 'service', join(directory, 'node'))).rejects.toThrow(
    `belongs to user ${own}, and this is user ${own + 1}: run the command as that user`,
  )
})
