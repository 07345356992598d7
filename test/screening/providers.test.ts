import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { encodeAbiParameters, parseAbiParameters, toEventSelector } from 'viem'
import { afterEach, describe, expect, it } from 'vitest'
import type { Address, Hex } from '../../src/domain/ids.js'
import {
  type ChainalysisOptions,
  createChainalysisProvider,
  type HttpRiskProvider,
} from '../../src/screening/providers/chainalysis-http.js'
import {
  ADDED_TOPIC,
  applyOracleLogs,
  EMPTY_ORACLE,
  REMOVED_TOPIC,
} from '../../src/screening/providers/sanctions-oracle.js'
import { replayCalls } from '../../src/screening/replay.js'
import type { Screener } from '../../src/screening/screener.js'
import { prepareUserRules, USER_RULES_MAX } from '../../src/screening/user-rules.js'
import { CLEAN, callOf, fixedLists, LISTED, TARGET, testScreener, told } from './fixtures.js'

const [first = TARGET, second = TARGET, third = TARGET] = CLEAN
const transfer = (to: string): Address =>
  `0xa9059cbb${'00'.repeat(12)}${to.slice(2).toLowerCase()}${'00'.repeat(31)}01`

type Answer = (address: string, response: ServerResponse) => void
const json =
  (body: unknown): Answer =>
  (_address, response) =>
    response.end(JSON.stringify(body))
const CLEAN_ANSWER = json({ identifications: [] })
const FLAGGED_ANSWER = json({
  identifications: [{ category: 'sanctions', name: 'SANCTIONS: OFAC SDN', url: 'https://example' }],
})

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const resource of open.splice(0).reverse()) await resource.close()
})

interface TestServer {
  readonly url: string
  readonly asked: string[]
  readonly keys: (string | undefined)[]
  answer: Answer
}

async function startServer(answer: Answer): Promise<TestServer> {
  const asked: string[] = []
  const keys: (string | undefined)[] = []
  const state = { url: '', asked, keys, answer }
  const server: Server = createServer((incoming, response) => {
    const address = incoming.url?.split('/').at(-1) ?? ''
    asked.push(address)
    keys.push(incoming.headers['x-api-key']?.toString())
    state.answer(address, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  open.push({
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  })
  return state
}

function provider(url: string, more: Partial<ChainalysisOptions> = {}): HttpRiskProvider {
  const made = createChainalysisProvider({
    name: 'chainalysis',
    baseUrl: url,
    apiKey: 'secret-of-the-provider',
    kind: 'sanctions',
    whenUnavailable: 'stop',
    timeoutMs: 30_000,
    ...more,
  })
  open.push(made)
  return made
}

function screenerWith(...providers: HttpRiskProvider[]): Screener {
  const made = testScreener({ providers })
  open.push(made)
  return made
}

describe('an HTTP provider', () => {
  it('is asked about the target and every party, each once, with its key', async () => {
    const server = await startServer(CLEAN_ANSWER)
    const screener = screenerWith(provider(server.url))
    expect(told(await screener.screen(callOf(transfer(first))))).toBe('clean')
    expect(server.asked.sort()).toEqual([TARGET, first].sort())
    expect(new Set(server.keys)).toEqual(new Set(['secret-of-the-provider']))
    expect(told(await screener.screen(callOf(transfer(first))))).toBe('clean')
    expect(server.asked).toHaveLength(2)
  })

  it('blocks what it identifies, and says where it stood', async () => {
    const server = await startServer((address, response) =>
      (address === first ? FLAGGED_ANSWER : CLEAN_ANSWER)(address, response),
    )
    const screener = screenerWith(provider(server.url))
    const verdict = await screener.screen(callOf(transfer(first)))
    expect(told(verdict)).toBe('blocked chainalysis: sanctions transfer.to')
  })

  it('is not asked about what a list already blocks', async () => {
    const server = await startServer(CLEAN_ANSWER)
    const screener = screenerWith(provider(server.url))
    expect(told(await screener.screen(callOf(transfer(LISTED))))).toMatch(/^blocked test-list/)
    expect(server.asked).toEqual([])
  })

  it.each<[string, Answer, Partial<ChainalysisOptions>?]>([
    ['does not answer in time', () => {}, { timeoutMs: 500 }],
    ['answers 500', (_address, response) => response.writeHead(500).end('broken')],
    ['refuses the key', (_address, response) => response.writeHead(403).end('{}')],
    ['answers with another shape', json({ ok: true })],
    ['answers with no JSON', (_address, response) => response.end('<html>')],
    ['answers without end', (_address, response) => response.end('x'.repeat(100_000))],
    ['hangs up', (_address, response) => response.destroy()],
  ])('that %s stops writes, and never shows its key', async (_name, answer, more) => {
    const server = await startServer(answer)
    const verdict = await screenerWith(provider(server.url, more)).screen(callOf('0x'))
    expect(told(verdict)).toMatch(/^unavailable chainalysis: /)
    expect(JSON.stringify(verdict)).not.toContain('secret')
  })

  it('that is down is skipped when it is not required', async () => {
    const screener = screenerWith(provider('http://127.0.0.1:9', { whenUnavailable: 'skip' }))
    expect(told(await screener.screen(callOf('0x')))).toBe('clean')
  })

  it('is asked about the target however many other addresses a call is full of', async () => {
    const server = await startServer((address, response) =>
      (address === TARGET ? FLAGGED_ANSWER : CLEAN_ANSWER)(address, response),
    )
    const words = Array.from({ length: 300 }, (_, i) =>
      `${first.slice(2, 38)}${1000 + i}`.padStart(64, '0'),
    )
    const data: Hex = `0xdeadbeef${words.join('')}`
    const judge = async (whenUnavailable: 'skip' | 'stop') =>
      told(await screenerWith(provider(server.url, { whenUnavailable })).screen(callOf(data)))
    expect(await judge('skip')).toBe('blocked chainalysis: sanctions to')
    expect(server.asked.length).toBeLessThanOrEqual(256)
    expect(await judge('stop')).toMatch(/^undecodable/)
  })

  it('that keeps failing is left alone for a while, then tried with one question', async () => {
    let nowMs = 0
    const server = await startServer((_address, response) => response.writeHead(500).end())
    const asked = provider(server.url, { nowMs: () => nowMs })
    for (let i = 0; i < 5; i++) await asked.check(CLEAN[i] ?? TARGET)
    expect(server.asked).toHaveLength(5)
    expect(asked.check(first)).toMatchObject({ outcome: 'unavailable' })
    nowMs += 30_000
    server.answer = CLEAN_ANSWER
    const [probe, held] = [asked.check(first), asked.check(second)]
    expect(await held).toMatchObject({ outcome: 'unavailable' })
    expect(await probe).toEqual({ outcome: 'clean' })
    expect(await asked.check(second)).toEqual({ outcome: 'clean' })
    expect(server.asked).toHaveLength(7)
  })

  it('is asked once for an address that many calls name at the same time', async () => {
    const server = await startServer(CLEAN_ANSWER)
    const asked = provider(server.url)
    await Promise.all(Array.from({ length: 50 }, () => asked.check(first)))
    expect(server.asked).toEqual([first])
  })
})

describe("a user's own rules", () => {
  const rules = prepareUserRules([
    { address: first, action: 'block' },
    { address: second, action: 'allow' },
    { address: LISTED, action: 'allow' },
    { address: third, action: 'allow' },
  ])
  const lists = fixedLists([
    { name: 'sanctions', kind: 'sanctions', addresses: [LISTED] },
    { name: 'house', kind: 'operator', addresses: [third] },
    { name: 'scams', kind: 'risk', addresses: [second] },
  ])
  const withRules = () => {
    const made = testScreener({
      lists,
      rulesOf: (userId) => (userId === 'user_01' ? rules : undefined),
    })
    open.push(made)
    return made
  }

  it('block an address as a target and anywhere in calldata', async () => {
    const screener = withRules()
    expect(told(await screener.screen(callOf('0x', { to: first })))).toBe('blocked user-rules to')
    expect(told(await screener.screen(callOf(transfer(first))))).toBe(
      'blocked user-rules transfer.to',
    )
  })

  it('take an address out of risk lists, for that user alone', async () => {
    const screener = withRules()
    expect(told(await screener.screen(callOf(transfer(second))))).toBe('clean')
    const other = { userId: 'user_02' as never }
    expect(told(await screener.screen(callOf(transfer(second), other)))).toMatch(/^blocked scams/)
  })

  it('never take one out of a sanctions or an operator list', async () => {
    const screener = withRules()
    expect(told(await screener.screen(callOf(transfer(LISTED))))).toMatch(/^blocked sanctions/)
    expect(told(await screener.screen(callOf('0x', { to: third })))).toBe('blocked house to')
  })

  it('do not hide a listed address behind an allowed one', async () => {
    const both = `${transfer(second)}${LISTED.slice(2)}` as const
    expect(told(await withRules().screen(callOf(both)))).toMatch(/^blocked sanctions/)
  })

  it('take an address out of risk providers, not out of sanctions providers', async () => {
    const server = await startServer(FLAGGED_ANSWER)
    const only = prepareUserRules([
      { address: TARGET, action: 'allow' },
      { address: first, action: 'allow' },
    ])
    const judge = async (kind: 'risk' | 'sanctions') => {
      const made = testScreener({
        rulesOf: () => only,
        providers: [provider(server.url, { kind })],
      })
      open.push(made)
      return told(await made.screen(callOf(transfer(first))))
    }
    expect(await judge('risk')).toBe('clean')
    expect(await judge('sanctions')).toMatch(/^blocked/)
  })

  it('are bounded in number', () => {
    const rule = { address: first, action: 'block' } as const
    const many = Array.from({ length: USER_RULES_MAX + 1 }, () => rule)
    expect(() => prepareUserRules(many)).toThrow(RangeError)
  })
})

describe('the on-chain oracle', () => {
  const log = (topic: string, addresses: readonly string[], blockNumber: number, logIndex = 0) => ({
    topics: [topic],
    data: encodeAbiParameters(parseAbiParameters('address[]'), [addresses as Address[]]),
    blockNumber,
    logIndex,
  })

  it('has the topics of its events', () => {
    expect(ADDED_TOPIC).toBe(toEventSelector('SanctionedAddressesAdded(address[])'))
    expect(REMOVED_TOPIC).toBe(toEventSelector('SanctionedAddressesRemoved(address[])'))
  })

  it('is mirrored in the order of the chain, whatever the order of the logs', () => {
    const logs = [
      log(REMOVED_TOPIC, [second], 9),
      log(ADDED_TOPIC, [first, second], 5, 1),
      log(ADDED_TOPIC, [third], 5, 0),
      log(REMOVED_TOPIC, [third], 5, 2),
      log(ADDED_TOPIC, [third], 5, 3),
    ]
    const state = applyOracleLogs(EMPTY_ORACLE, logs, 10)
    expect([...state.sanctioned].sort()).toEqual([first, third].sort())
    const later = applyOracleLogs(state, [log(REMOVED_TOPIC, [first], 11)], 12)
    expect([...later.sanctioned]).toEqual([third])
  })

  it('refuses logs of blocks it has, and logs that do not decode', () => {
    const state = applyOracleLogs(EMPTY_ORACLE, [], 10)
    expect(() => applyOracleLogs(state, [log(ADDED_TOPIC, [first], 10)], 12)).toThrow(RangeError)
    const cut = { ...log(ADDED_TOPIC, [first], 11), data: `0x${'00'.repeat(31)}20` }
    expect(() => applyOracleLogs(state, [cut], 12)).toThrow(RangeError)
  })
})

describe('a replay', () => {
  it("names past calls that today's lists would stop", async () => {
    const screener = testScreener()
    open.push(screener)
    const calls = [
      { id: 'tx_1', ...callOf(transfer(first)) },
      { id: 'tx_2', ...callOf(transfer(LISTED)) },
      { id: 'tx_3', ...callOf('0x') },
    ]
    const found: string[] = []
    for await (const { id, verdict } of replayCalls(screener, calls))
      found.push(`${id} ${told(verdict)}`)
    expect(found).toEqual(['tx_2 blocked test-list transfer.to'])
  })
})
