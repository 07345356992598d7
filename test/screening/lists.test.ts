import { appendFile, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createListOwner, type ListOwner } from '../../src/screening/lists/list-owner.js'
import {
  REMOVAL_SETTLE_MS,
  TEXT_LISTS_MAX,
  TextDirectory,
} from '../../src/screening/lists/text-directory.js'
import { createScreener } from '../../src/screening/local-screener.js'
import { findEntry } from '../../src/screening/set/address-set.js'
import { builtPool, CLEAN, callOf, LISTED, packed, told } from './fixtures.js'
import { recordingLog } from './recording-log.js'

const [first = '', second = '', third = ''] = CLEAN
const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'

let home: string
let owner: ListOwner | null = null
const log = recordingLog()

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'lists-'))
  await mkdir(join(home, 'lists'))
  log.lines.length = 0
})

afterEach(async () => {
  owner?.close()
  owner = null
  await rm(home, { recursive: true, force: true })
})

const file = (name: string) => join(home, 'lists', name)
const options = (mode: 'dev' | 'live') => ({
  mode,
  textListsDirectory: join(home, 'lists'),
  storeDirectory: join(home, 'service', 'lists'),
  protectedAddresses: [third],
  log,
})

async function start(): Promise<ListOwner> {
  owner = await createListOwner(options('dev'))
  return owner
}

function holds(lists: ListOwner, address: string): boolean {
  const open = lists.current()
  return open !== null && findEntry(open.set, packed([address]), 0) >= 0
}

/**
 * Makes a change, and waits for what the owner does on its own, without being asked to look. The
 * machine does other things as well: where that took longer than a second, with the next address.
 * @param addresses on no list yet
 */
async function countsWithinASecond(
  lists: ListOwner,
  addresses: readonly string[],
  change: (address: string) => Promise<void>,
): Promise<void> {
  let leastMs = Number.POSITIVE_INFINITY
  for (const address of addresses) {
    expect(holds(lists, address)).toBe(false)
    await change(address)
    const changedAt = performance.now()
    await expect.poll(() => holds(lists, address), { interval: 10 }).toBe(true)
    leastMs = Math.min(leastMs, performance.now() - changedAt)
    if (leastMs < 1_000) return
  }
  expect(leastMs).toBeLessThan(1_000)
}

describe('a text list', () => {
  it('is read with comments, notes, blank lines and either line ending', async () => {
    await writeFile(file('mine.txt'), `# mine\r\n\r\n${first}\r\n${second}, somebody # why\n`)
    const lists = await start()
    expect(holds(lists, first)).toBe(true)
    expect(holds(lists, second)).toBe(true)
    expect(lists.status().lists.map(({ list, entries }) => [list, entries])).toContainEqual([
      'mine',
      2,
    ])
  })

  it('counts within a second of being added, changed and replaced by rename, without a restart', async () => {
    const lists = await start()
    await countsWithinASecond(lists, CLEAN.slice(3, 8), (address) =>
      writeFile(file(`new-${address.slice(-16)}.txt`), `${address}\n`),
    )
    await writeFile(file('old.txt'), `${first}\n`)
    await countsWithinASecond(lists, CLEAN.slice(8, 13), (address) =>
      appendFile(file('old.txt'), `${address}\n`),
    )
    await countsWithinASecond(lists, CLEAN.slice(13, 18), async (address) => {
      await writeFile(join(home, 'draft'), `${first}\n${address}\n`)
      await rename(join(home, 'draft'), file('old.txt'))
    })
  })

  it('is reported entry by entry where it is wrong, and still counts', async () => {
    const wrong = [
      '0x0000000000000000000000000000000000000001',
      '0x000000000000000000000000000000000000dEaD',
      '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE',
      'not an address',
      '0x1234',
      USDC,
      third,
    ]
    await writeFile(file('mixed.txt'), [...wrong, first].join('\n'))
    const lists = await start()
    expect(holds(lists, first)).toBe(true)
    for (const address of [USDC, third]) expect(holds(lists, address)).toBe(false)
    const state = lists.status().lists.find(({ list }) => list === 'mixed')
    expect(state).toMatchObject({ entries: 1, refusedCount: 7 })
    expect(state?.refused.map(({ fault }) => fault)).toEqual([
      'zero-or-precompile',
      'zero-or-precompile',
      'low-entropy',
      'malformed',
      'malformed',
      'infrastructure',
      'infrastructure',
    ])
    expect(log.at('error').some((line) => line.includes('refused'))).toBe(true)
  })
})

describe('one list more than there may be', () => {
  it('pushes out none that counts, and is said not to count itself', async () => {
    const directory = new TextDirectory(join(home, 'lists'), () => false)
    await Promise.all(
      Array.from({ length: TEXT_LISTS_MAX }, (_, i) => writeFile(file(`m${i}.txt`), `${first}\n`)),
    )
    await directory.refresh(0)
    await writeFile(file('a.txt'), `${second}\n`)
    await directory.refresh(10)
    await directory.refresh(10 + REMOVAL_SETTLE_MS)
    expect(directory.lists).toHaveLength(TEXT_LISTS_MAX)
    expect(directory.unread).toEqual(['a.txt'])
  })
})

describe('a file that is being written', () => {
  const isProtected = () => false
  const names = (directory: TextDirectory) =>
    directory.lists.map(({ name, packed: bytes }) => [name, bytes.length / 20])

  it('drops no address while half of it is there', async () => {
    const directory = new TextDirectory(join(home, 'lists'), isProtected)
    await writeFile(file('a.txt'), `${first}\n${second}\n`)
    await directory.refresh(0)
    await writeFile(file('a.txt'), `${LISTED}\n${first.slice(0, 20)}`)
    await directory.refresh(10)
    expect(names(directory)).toEqual([['a', 3]])
    await writeFile(file('a.txt'), '')
    await directory.refresh(20)
    expect(names(directory)).toEqual([['a', 3]])
  })

  it('drops what was removed once it has stood unchanged', async () => {
    const directory = new TextDirectory(join(home, 'lists'), isProtected)
    await writeFile(file('a.txt'), `${first}\n${second}\n`)
    await directory.refresh(0)
    await writeFile(file('a.txt'), `${second}\n`)
    await directory.refresh(10)
    await directory.refresh(9 + REMOVAL_SETTLE_MS)
    expect(names(directory)).toEqual([['a', 2]])
    await directory.refresh(10 + REMOVAL_SETTLE_MS)
    expect(names(directory)).toEqual([['a', 1]])
  })

  it('keeps a list whose file is away for a moment, and drops it when it stays away', async () => {
    const directory = new TextDirectory(join(home, 'lists'), isProtected)
    await writeFile(file('a.txt'), `${first}\n`)
    await directory.refresh(0)
    await rm(file('a.txt'))
    await directory.refresh(10)
    expect(names(directory)).toEqual([['a', 1]])
    await directory.refresh(10 + REMOVAL_SETTLE_MS)
    expect(names(directory)).toEqual([])
  })

  it('keeps its content when it becomes unreadable, and says so', async () => {
    const directory = new TextDirectory(join(home, 'lists'), isProtected)
    await writeFile(file('a.txt'), `${first}\n`)
    await directory.refresh(0)
    await rm(file('a.txt'))
    await mkdir(file('a.txt'))
    await directory.refresh(10)
    expect(names(directory)).toEqual([['a', 1]])
    expect(directory.problems).toHaveLength(1)
  })
})

describe('screening follows the lists', () => {
  it('without a restart, with the version of each list in the verdict', async () => {
    const lists = await start()
    const screener = createScreener({ lists, walkPool: builtPool() })
    const call = callOf('0x', { to: first as `0x${string}` })
    expect(told(await screener.screen(call))).toBe('clean')
    await writeFile(file('ops.txt'), `${first}\n`)
    await lists.refresh()
    const verdict = await screener.screen(call)
    expect(told(verdict)).toBe('blocked ops to')
    expect(verdict.lists.map(({ list }) => list)).toEqual(['dev-sample', 'ops'])
    await screener.close()
  })
})

describe('live', () => {
  it('does not start without an imported sanctions list, whatever text lists there are', async () => {
    await writeFile(file('ops.txt'), `${first}\n`)
    await expect(createListOwner(options('live'))).rejects.toThrow(/no sanctions list is imported/)
  })
})
