/** Calldata made to be expensive costs a refusal. */
import type { Hex } from 'viem'
import { afterAll, describe, expect, it } from 'vitest'
import { INLINE_WALK_BYTES_MAX } from '../../src/screening/local-screener.js'
import { CALLDATA_BYTES_MAX } from '../../src/screening/screener.js'
import { prepareUserRules } from '../../src/screening/user-rules.js'
import { KNOWN_SHAPES } from '../../src/screening/walk/known-shapes.js'
import { walkCalldata } from '../../src/screening/walk/walker.js'
import { WalkPool } from '../../src/screening/walk-pool.js'
import {
  builtPool,
  CLEAN,
  callOf,
  fixedLists,
  LISTED,
  LISTED_HEX,
  TARGET,
  testScreener,
  told,
} from './fixtures.js'

const word = (value: number) => value.toString(16).padStart(64, '0')
/** A wall clock on a shared machine: far above what is measured, far below what a bomb would take. */
const REFUSED_MS_MAX = 250

const screener = testScreener()
afterAll(() => screener.close())

/** multicall(bytes[]) with `count` offsets that all point to one blob. */
function sharedBlob(count: number, blob: string): Hex {
  const bytes = blob.length / 2
  const padded = blob.padEnd(Math.ceil(bytes / 32) * 64, '0')
  return `0xac9650d8${word(32)}${word(count)}${word(count * 32).repeat(count)}${word(bytes)}${padded}`
}

/** The least of several times, up to one below `enoughMs`: the machine does other things as well. */
function leastMs(times: number, enoughMs: number, run: () => unknown): number {
  let least = Number.POSITIVE_INFINITY
  for (let time = 0; time < times && least >= enoughMs; time++) {
    const startedAt = performance.now()
    run()
    least = Math.min(least, performance.now() - startedAt)
  }
  return least
}

const BOMBS: readonly (readonly [string, Hex])[] = [
  ['1,900 offsets to one 60 kB blob', sharedBlob(1_900, 'ff'.repeat(60_000))],
  ['a bomb within a bomb', sharedBlob(400, sharedBlob(1_000, '11'.repeat(20_000)).slice(2))],
  ['an array that claims 2^31 elements', `0xac9650d8${word(32)}${word(2 ** 31)}`],
  ['a length past 2^53', `0xac9650d8${word(32)}${'f'.repeat(64)}`],
  ['a multiSend cut in its header', `0x8d80ff0a${word(32)}${word(40)}${'00'.repeat(64)}`],
]

describe('a bomb is refused', () => {
  it.each(BOMBS)('%s', async (_name, data) => {
    const bytes = Buffer.from(data.slice(2), 'hex')
    expect(bytes.length).toBeLessThanOrEqual(CALLDATA_BYTES_MAX)
    const walk = () => walkCalldata(KNOWN_SHAPES, bytes, bytes.length)
    expect(walk().failure).not.toBeNull()
    expect(leastMs(10, REFUSED_MS_MAX, walk)).toBeLessThan(REFUSED_MS_MAX)
    expect(told(await screener.screen(callOf(data)))).toMatch(/^undecodable/)
  })

  it('also when it is small enough to be walked at once: within the time of a pool round trip', () => {
    let inner = sharedBlob(8, 'ff'.repeat(32)).slice(2)
    for (let i = 0; i < 8; i++) inner = sharedBlob(8, inner).slice(2)
    const bytes = Buffer.from(inner, 'hex')
    expect(bytes.length).toBeLessThanOrEqual(INLINE_WALK_BYTES_MAX)
    const walk = () => walkCalldata(KNOWN_SHAPES, bytes, bytes.length)
    expect(walk().failure?.cause).toBe('too-large')
    // As often as it takes until it is compiled, which happens beside it.
    expect(leastMs(3_000, 1, walk)).toBeLessThan(1)
  })

  it('and blocked when it holds a listed address', async () => {
    const data = sharedBlob(1_900, `ff${LISTED_HEX}`.padEnd(120_000, 'f'))
    expect(told(await screener.screen(callOf(data)))).toMatch(/^blocked/)
  })
})

describe('calldata too long to be scanned among other calls', () => {
  const own = prepareUserRules([{ address: CLEAN[0] ?? TARGET, action: 'block' }])
  const ruled = testScreener({ rulesOf: () => own, walkPool: builtPool() })
  afterAll(() => ruled.close())
  const long = (inner: string): Hex =>
    `0xac9650d8${word(32)}${word(2)}${word(64)}${word(64 + 32 + 20_000)}${word(20_000)}${'00'.repeat(20_000)}${word(68)}${inner.padEnd(192, '0')}`
  const transferTo = (to: string) =>
    `a9059cbb${to.slice(2).toLowerCase().padStart(64, '0')}${word(1)}`

  it('is judged in the pool as it would be at once, by the place of the party', async () => {
    const listed = await ruled.screen(callOf(long(transferTo(LISTED))))
    expect(told(listed)).toBe('blocked test-list multicall[1] → transfer.to')
    const blocked = await ruled.screen(callOf(long(transferTo(CLEAN[0] ?? TARGET))))
    expect(told(blocked)).toBe('blocked user-rules multicall[1] → transfer.to')
    expect(told(await ruled.screen(callOf(long(transferTo(CLEAN[1] ?? TARGET)))))).toBe('clean')
  })

  it('stays with the caller where an allow entry has a say in each hit', async () => {
    const allow = prepareUserRules([{ address: CLEAN[2] ?? TARGET, action: 'allow' }])
    const lists = fixedLists([{ name: 'scams', kind: 'risk', addresses: CLEAN.slice(2, 4) }])
    const pool = builtPool()
    const allowing = testScreener({ lists, rulesOf: () => allow, walkPool: pool })
    expect(told(await allowing.screen(callOf(long(transferTo(CLEAN[2] ?? TARGET)))))).toBe('clean')
    expect(told(await allowing.screen(callOf(long(transferTo(CLEAN[3] ?? TARGET)))))).toMatch(
      /^blocked scams/,
    )
    await allowing.close()
  })
})

describe('honest calldata of full size passes', () => {
  it('as 4,000 empty calls, which share one length word', async () => {
    const data: Hex = `0xac9650d8${word(32)}${word(4_000)}${word(0).repeat(4_000)}`
    expect(told(await screener.screen(callOf(data)))).toBe('clean')
  })

  it('as 2,000 payments in one call', async () => {
    const recipients = Array.from(
      { length: 2_000 },
      (_, i) => `${word(0).slice(0, 24)}5aa1c0de9b7e${(i + 4_096).toString(16).padStart(28, '7')}`,
    )
    const data: Hex = `0xe63d38ed${word(64)}${word(64 + 32 * 2_001)}${word(2_000)}${recipients.join('')}${word(2_000)}${word(7).repeat(2_000)}`
    expect(told(await screener.screen(callOf(data)))).toBe('clean')
  })

  it.each([
    ['zeros', '00'],
    ['hex digits', '61'],
    ['ones', 'ff'],
  ])('as 128 KiB of %s behind an unknown selector', async (_name, byte) => {
    const bytes = Buffer.from(`deadbeef${byte.repeat(CALLDATA_BYTES_MAX - 4)}`, 'hex')
    const verdicts: ReturnType<typeof screener.screen>[] = []
    const ms = leastMs(5, REFUSED_MS_MAX, () => verdicts.push(screener.screen(callOf(bytes))))
    expect(ms).toBeLessThan(REFUSED_MS_MAX)
    for (const verdict of verdicts) expect(told(await verdict)).toBe('clean')
  })
})

describe('the walk pool', () => {
  it('answers from its own thread, in turn', async () => {
    const pool = builtPool()
    const bytes = () =>
      new Uint8Array(Buffer.from(sharedBlob(1_900, 'ff'.repeat(60_000)).slice(2), 'hex'))
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => pool.check(bytes())))
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ outcome: 'walked', value: { cause: 'too-large' } })
    }
    await pool.close()
  })

  it('refuses what waits too long in line, and recovers', async () => {
    const pool = builtPool()
    const many = Array.from({ length: 80 }, () => pool.check(new Uint8Array(8)))
    const outcomes = await Promise.all(many)
    expect(outcomes.filter(({ outcome }) => outcome === 'unavailable')).toHaveLength(16)
    expect(await pool.check(new Uint8Array(8))).toEqual({ outcome: 'walked', value: null })
    await pool.close()
  })

  it('ends a walk that does not end, says so, and goes on', async () => {
    const pool = new WalkPool(new URL('./fixtures-hostile-walk.mjs', import.meta.url), 2_000)
    const slow = await pool.check(new Uint8Array(1))
    expect(slow).toMatchObject({ outcome: 'undecodable', undecodable: { cause: 'too-slow' } })
    const fat = await pool.report(new Uint8Array(1))
    expect(fat).toMatchObject({ outcome: 'undecodable' })
    // Its limit is by the clock on the wall, which the machine may take from a short walk too.
    await expect
      .poll(() => pool.check(new Uint8Array(0)))
      .toEqual({ outcome: 'walked', value: null })
    await pool.close()
  })

  it('is unavailable when its module does not load', async () => {
    const pool = new WalkPool(new URL('./no-such-module.mjs', import.meta.url))
    expect(await pool.check(new Uint8Array(1))).toMatchObject({ outcome: 'unavailable' })
    await pool.close()
  })
})
