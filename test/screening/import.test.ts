import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zipSync } from 'fflate'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ListFormatError } from '../../src/screening/lists/formats/list-parser.js'
import { readListChunks } from '../../src/screening/lists/formats/read-list.js'
import { importList, ListShrankError } from '../../src/screening/lists/import-list.js'
import { checkAddress, listsStatus } from '../../src/screening/lists/inspect-lists.js'
import { createListOwner } from '../../src/screening/lists/list-owner.js'
import { createScreener } from '../../src/screening/local-screener.js'
import { builtPool, CLEAN, callOf, LISTED, told } from './fixtures.js'
import {
  ADVANCED_TAIL,
  advanced,
  advancedHead,
  advancedParty,
  classic,
  enhanced,
  euXml,
  type Party,
  ukCsv,
  ukXml,
} from './list-samples.js'
import { recordingLog } from './recording-log.js'

const [first = '', second = '', third = ''] = CLEAN
/** A well-known Tron account, and what the same 20 bytes are on EVM. */
const TRON = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'
const TRON_AS_EVM = '0xa614f803b6fd780986a42c78ec9c7f77e6ded13c'
const USDC = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'

const PARTIES: readonly Party[] = [
  {
    name: 'ONE',
    accounts: [
      ['ETH', LISTED],
      ['XBT', '12QtD5BFwRsdNsAZY76UVE1xyCGNTojH9h'],
    ],
  },
  { name: 'ANOTHER TICKER', accounts: [['USDT', first]] },
  { name: 'PACKED', accounts: [['ETH', `${second}, ${third};`]] },
  { name: 'PROSE', accounts: [['BSC', `also known by ${CLEAN[7]} (secondary)`]] },
  { name: 'TRON', accounts: [['TRX', TRON]] },
]
const EXPECTED = [LISTED, first, second, third, CLEAN[7] ?? ''].map((text) => text.toLowerCase())

let home: string
let storeDirectory: string
const log = recordingLog()

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'import-'))
  storeDirectory = join(home, 'service', 'lists')
})
afterEach(async () => {
  await rm(home, { recursive: true, force: true })
})

const context = () => ({ storeDirectory, protectedAddresses: [] })
const ownerOptions = (mode: 'dev' | 'live', nowMs = Date.now) => ({
  mode,
  textListsDirectory: join(home, 'lists'),
  storeDirectory,
  protectedAddresses: [],
  log,
  nowMs,
})

async function put(name: string, content: string | Uint8Array): Promise<string> {
  const file = join(home, name)
  await writeFile(file, content)
  return file
}

async function stored(name: string): Promise<readonly string[]> {
  const text = await readFile(join(storeDirectory, `${name}.list`), 'utf8')
  return text.trim().split('\n').slice(1).sort()
}

describe("OFAC's list", () => {
  it.each([
    ['advanced', 'ofac-advanced', advanced(PARTIES)],
    [
      'advanced of before May 2024',
      'ofac-advanced',
      advanced(PARTIES, 'http://www.un.org/sanctions/1.0'),
    ],
    ['enhanced', 'ofac-enhanced', enhanced(PARTIES)],
    ['classic', 'ofac-classic', classic(PARTIES)],
  ])('%s gives every EVM account under any ticker', async (_name, format, xml) => {
    const report = await importList(
      { source: 'ofac-sdn', file: await put('sdn.xml', xml) },
      context(),
    )
    expect(report).toMatchObject({ format, added: 5, removed: 0 })
    expect(report.list.published).toMatch(/2026/)
    expect(await stored('ofac-sdn')).toEqual([...EXPECTED].sort())
  })

  it('is read from the ZIP it is published as', async () => {
    const zip = zipSync({ 'SDN_ADVANCED.XML': Buffer.from(advanced(PARTIES)) })
    const report = await importList(
      { source: 'ofac-sdn', file: await put('sdn.zip', zip) },
      context(),
    )
    expect(report.list.entries).toBe(5)
  })

  it('takes Tron accounts as the same key on EVM when the policy says so', async () => {
    const file = await put('sdn.xml', advanced(PARTIES))
    await importList({ source: 'ofac-sdn', file, tron: 'same-key' }, context())
    expect(await stored('ofac-sdn')).toEqual([...EXPECTED, TRON_AS_EVM].sort())
  })

  it('frees an address that is no longer in it', async () => {
    await importList({ source: 'ofac-sdn', file: await put('a.xml', advanced(PARTIES)) }, context())
    const without = PARTIES.filter(({ name }) => name !== 'ANOTHER TICKER')
    const report = await importList(
      { source: 'ofac-sdn', file: await put('b.xml', advanced(without)) },
      context(),
    )
    expect(report).toMatchObject({ added: 0, removed: 1 })
    expect(await stored('ofac-sdn')).not.toContain(first)
  })

  it('refuses infrastructure and padding within it, and says so', async () => {
    const party = {
      name: 'WRONG',
      accounts: [
        ['ETH', USDC],
        ['ETH', `0x${'00'.repeat(19)}01`],
      ],
    } as const
    const file = await put('sdn.xml', advanced([...PARTIES, party]))
    const { list } = await importList({ source: 'ofac-sdn', file }, context())
    expect(list).toMatchObject({ entries: 5, refused_count: 2 })
  })

  it('reports a mixed-case address with a wrong checksum, and lists it', async () => {
    const odd = `0x${LISTED.slice(2).replace('B', 'b')}`
    const file = await put('sdn.xml', advanced([{ name: 'ODD', accounts: [['ETH', odd]] }]))
    const report = await importList({ source: 'ofac-sdn', file }, context())
    expect(report.checksumMismatches).toEqual([odd])
    expect(await stored('ofac-sdn')).toEqual([LISTED.toLowerCase()])
  })
})

describe('lists with accounts in free text', () => {
  const text = `Known wallets: ${LISTED} and ${first}. File hash ${'ab'.repeat(20)}, transaction 0x${'cd'.repeat(32)}.`
  it.each([
    ['uk', 'uk-csv', ukCsv(text)],
    ['uk', 'uk-xml', ukXml(text)],
    ['eu', 'eu-xml', euXml(text)],
  ] as const)('%s as %s gives its addresses, not its hashes', async (source, format, content) => {
    const report = await importList({ source, file: await put('list', content) }, context())
    expect(report).toMatchObject({ format, added: 2 })
    expect(report.list.published).toMatch(/2026/)
    expect(await stored(`${source}-sanctions`)).toEqual([LISTED.toLowerCase(), first].sort())
  })
})

describe('a plain list', () => {
  it('gives one address a line under the name it was imported as', async () => {
    const file = await put('mine.txt', `# mine\n${first}\nnonsense\n${second}`)
    const report = await importList(
      { source: 'plain', name: 'partner', kind: 'risk', file },
      context(),
    )
    expect(report.list).toMatchObject({
      name: 'partner',
      kind: 'risk',
      entries: 2,
      refused_count: 1,
    })
  })
})

describe('a file that is not what it should be', () => {
  it.each([
    ['cut short', 'ofac-sdn', advanced(PARTIES).slice(0, -60)],
    ['of another root', 'ofac-sdn', euXml('nothing')],
    [
      'without the marked features',
      'ofac-sdn',
      advanced(PARTIES).replaceAll('Digital Currency', 'Virtual'),
    ],
    ['without parties', 'ofac-sdn', advanced([])],
    ['a page of HTML', 'uk', '<html><body>Down for maintenance</body></html>'],
    ['a page of text', 'uk', 'Service unavailable\n\n\n'],
    ['empty', 'eu', ''],
    ['XML in place of a plain list', 'plain', euXml(LISTED)],
    [
      'a DTD that defines entities',
      'ofac-sdn',
      `<!DOCTYPE x [<!ENTITY a "aaaa">]><Sanctions>&a;</Sanctions>`,
    ],
  ] as const)('%s is refused, and the earlier list stays', async (_name, source, content) => {
    const good = {
      'ofac-sdn': advanced(PARTIES),
      uk: ukXml(LISTED),
      eu: euXml(LISTED),
      plain: LISTED,
    }
    await importList({ source, file: await put('good', good[source]) }, context())
    const before = await readdir(storeDirectory)
    const file = await put('bad', content)
    await expect(importList({ source, file }, context())).rejects.toThrow(ListFormatError)
    expect(await readdir(storeDirectory)).toEqual(before)
  })

  it('with hardly an address left needs a person to confirm it', async () => {
    const many = Array.from(
      { length: 40 },
      (_, i) => `0x5aa1c0de9b7e4d21f00dabc0${(i + 4_096).toString(16)}e1c3b8a6d9e2`,
    )
    const file = await put('many.txt', many.join('\n'))
    await importList({ source: 'plain', file }, context())
    const few = await put('few.txt', many.slice(0, 9).join('\n'))
    await expect(importList({ source: 'plain', file: few }, context())).rejects.toThrow(
      ListShrankError,
    )
    const report = await importList({ source: 'plain', file: few, shrink: 'confirmed' }, context())
    expect(report).toMatchObject({ removed: 31 })
  })
})

describe('memory', () => {
  const megabytes = Number(process.env.SCREENING_LARGE_LIST_MB ?? 24)

  it(`stays bounded over a list of ${megabytes} MB`, { timeout: 120_000 }, async () => {
    const filler: Party = {
      name: 'X'.repeat(4_000),
      accounts: [['XBT', '12QtD5BFwRsdNsAZY76UVE1xyCGNTojH9h']],
    }
    async function* chunks() {
      yield Buffer.from(advancedHead())
      const party = advancedParty(filler, 1)
      for (let bytes = 0; bytes < megabytes * 1024 * 1024; bytes += party.length)
        yield Buffer.from(party)
      yield Buffer.from(
        advancedParty({ name: 'LAST', accounts: [['ETH', LISTED]] }, 2) + ADVANCED_TAIL,
      )
    }
    const before = process.memoryUsage()
    let peak = 0
    const sampler = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().heapUsed - before.heapUsed)
    }, 20)
    const read = await readListChunks(chunks(), 'ofac-sdn', () => false, 'ignore')
    clearInterval(sampler)
    expect(read.collector.size).toBe(1)
    expect(peak).toBeLessThan(96 * 1024 * 1024)
  })
})

describe('a live service', () => {
  it('starts with an imported list, takes over an import by another process, and blocks', async () => {
    await importList({ source: 'ofac-sdn', file: await put('a.xml', advanced(PARTIES)) }, context())
    const owner = await createListOwner(ownerOptions('live'))
    const screener = createScreener({ lists: owner, walkPool: builtPool() })
    const judge = async () =>
      told(await screener.screen(callOf('0x', { to: first as `0x${string}` })))
    expect(await judge()).toBe('blocked ofac-sdn to')
    const without = PARTIES.filter(({ name }) => name !== 'ANOTHER TICKER')
    await importList({ source: 'ofac-sdn', file: await put('b.xml', advanced(without)) }, context())
    await expect.poll(judge).toBe('clean')
    await screener.close()
    owner.close()
  })

  it('blocks what two lists share, and all that each holds alone', async () => {
    const texts = [[LISTED, first, second].join('\n'), [second, third, LISTED].join('\n')]
    for (const [at, text] of texts.entries()) {
      const file = await put(`${at}.txt`, text)
      await importList({ source: 'plain', name: `list-${at}`, file }, context())
    }
    const owner = await createListOwner(ownerOptions('live'))
    const screener = createScreener({ lists: owner, walkPool: builtPool() })
    const call = (to: string) => callOf('0x', { to: to as `0x${string}` })
    for (const to of [LISTED, first, second, third]) {
      expect(told(await screener.screen(call(to)))).toMatch(/^blocked/)
    }
    await screener.close()
    owner.close()
  })

  it('stops writes when a list is older than its limit', async () => {
    const file = await put('a.xml', advanced(PARTIES))
    await importList({ source: 'ofac-sdn', file, maxAgeSeconds: 3_600 }, context())
    let nowMs = Date.now()
    const owner = await createListOwner(ownerOptions('live', () => nowMs))
    const screener = createScreener({
      lists: owner,
      walkPool: builtPool(),
      nowMs: () => nowMs,
    })
    const call = callOf('0x')
    expect(told(await screener.screen(call))).toBe('clean')
    nowMs += 3_601_000
    expect(told(await screener.screen(call))).toMatch(/^unavailable/)
    expect(screener.readiness()).toMatchObject({ ready: false })
    expect(owner.status()).toMatchObject({ ready: false, reason: 'a list is stale' })
    await screener.close()
    owner.close()
  })

  it('does not start with lists of risk alone, and writes nothing once no other is left', async () => {
    const file = await put('mine.txt', `${first}\n${second}`)
    await importList({ source: 'plain', name: 'partner', kind: 'risk', file }, context())
    await expect(createListOwner(ownerOptions('live'))).rejects.toThrow(/no sanctions list/)
    await importList({ source: 'ofac-sdn', file: await put('a.xml', advanced(PARTIES)) }, context())
    const owner = await createListOwner(ownerOptions('live'))
    expect(owner.status()).toMatchObject({ ready: true })
    await rm(join(storeDirectory, 'ofac-sdn.list'))
    await owner.refresh()
    expect(owner.status()).toMatchObject({ ready: false, reason: 'no sanctions list is imported' })
    owner.close()
  })

  it('does not load a stored list that was edited by hand', async () => {
    await importList({ source: 'ofac-sdn', file: await put('a.xml', advanced(PARTIES)) }, context())
    const path = join(storeDirectory, 'ofac-sdn.list')
    await writeFile(path, (await readFile(path, 'utf8')).replace(first, second.replace('c1', 'd1')))
    await expect(createListOwner(ownerOptions('live'))).rejects.toThrow(/no sanctions list/)
    const status = await listsStatus(ownerOptions('live'))
    expect(status.ready).toBe(false)
    expect(status.problems.join()).toMatch(/do not match/)
  })

  it('writes nothing while a list that is there cannot be loaded, whatever others say', async () => {
    await importList({ source: 'ofac-sdn', file: await put('a.xml', advanced(PARTIES)) }, context())
    await importList({ source: 'uk', file: await put('uk.csv', ukCsv(LISTED)) }, context())
    const path = join(storeDirectory, 'ofac-sdn.list')
    const whole = await readFile(path, 'utf8')
    await writeFile(path, whole.slice(0, -10))
    const owner = await createListOwner(ownerOptions('live'))
    const screener = createScreener({ lists: owner, walkPool: builtPool() })
    const judge = async () =>
      told(await screener.screen(callOf('0x', { to: first as `0x${string}` })))
    expect(await judge()).toMatch(/^unavailable/)
    expect(owner.status()).toMatchObject({
      ready: false,
      reason: 'ofac-sdn.list cannot be loaded',
    })
    await writeFile(path, whole)
    await owner.refresh()
    expect(await judge()).toBe('blocked ofac-sdn to')
    // What was read before goes on counting.
    await writeFile(path, whole.slice(0, -20))
    await owner.refresh()
    expect(await judge()).toBe('blocked ofac-sdn to')
    await screener.close()
    owner.close()
  })

  it('writes nothing while a text list cannot be read that never was', async () => {
    await importList({ source: 'ofac-sdn', file: await put('a.xml', advanced(PARTIES)) }, context())
    const owner = await createListOwner(ownerOptions('live'))
    expect(owner.status().ready).toBe(true)
    const unreadable = join(home, 'lists', 'ops.txt')
    await mkdir(unreadable)
    await owner.refresh()
    expect(owner.current()?.unusable).toBe('ops.txt cannot be loaded')
    await rm(unreadable, { recursive: true })
    await owner.refresh()
    expect(owner.current()?.unusable).toBe(null)
    owner.close()
  })

  it('tells which lists hold an address', async () => {
    await importList({ source: 'ofac-sdn', file: await put('a.xml', advanced(PARTIES)) }, context())
    await importList({ source: 'uk', file: await put('uk.csv', ukCsv(LISTED)) }, context())
    const { lists } = await checkAddress(LISTED, ownerOptions('live'))
    expect(lists.map(({ list }) => list)).toEqual(['ofac-sdn', 'uk-sanctions'])
  })
})
