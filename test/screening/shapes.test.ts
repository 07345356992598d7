import { toFunctionSelector } from 'viem'
import { afterAll, describe, expect, it } from 'vitest'
import { ALL_SHAPES } from '../../src/screening/walk/known-shapes.js'
import { callOf, LISTED, testScreener, told } from './fixtures.js'
import { calldataOf, cleanAt, PROGRAM_ROWS, placesOf } from './shape-values.js'

/** Selectors of functions in which beneficiaries are known to hide, by family. */
const REQUIRED_SELECTORS = `
  a9059cbb 23b872dd 095ea7b3 39509351 d505accf 8fcbaf0c cf092995 4000aea0
  42842e0e b88d4fde a22cb465 f242432a 2eb2c2d6 b760faf9 205c2878
  38ed1739 7ff36ab5 f305d719 c04b8d59 414bf389 ac9650d8 49404b7c df2ab5bb 9b2c0a37
  b858183f 04e45aaf 5ae401dc 1f0464d1 472b43f3 3593564c 24856bc3 dd46508f
  36c78516 0d58b1db 30f28b7a 87517c45 2b67b570 82ad56cb 174dea71 e63d38ed c73a2d60
  6a761202 8d80ff0a 1688f0b9 0d582f13 1fad948c 765e827f e9ae5c53 d691c964 34fcd5be 47e1da2a
  12aa3caf bc80f1a8 07ed2379 e2c95c82 175accdc f497df75 1fff991f 2213bc0b e3ead59e 876a02f6
  9871efa4 7b939232 ad5425c6 c7c7f5b3 6fd3504e 8e0250ee 779b432d deace8f5 0f5287b0 9fbf10fc
  44bc937b 26ef699d b5417084 13d79a0b 322bba21 ec6cb13f 617ba037 69328dec c04a8a10
  6e553f65 b460af94 ba087652 555029a6 50d8cd4b eecea000 374f435d 52bbbe29 945bcec9 c872a3c5
  e7acab24 00000000`
  .trim()
  .split(/\s+/)

/** burn, preSign and approveHash have a number or a hash alone. */
const NAMES_NOBODY: readonly string[] = [
  ...['42966c68', '46c02d7a', 'd4d9bdcd'],
  // Roles, thresholds, keys and prices of what is passed on
  ...['1e4e0091', '30cae187', '52962952', '694e80c3', 'ba51a6df', '29565e3b', 'c44193c3'],
  // The number of a call that others wrote, and of a stream
  ...['c01a8c84', 'a8a482a6'],
]

const screener = testScreener()
afterAll(() => screener.close())

describe('the shape table', () => {
  it('has a row for every function in which beneficiaries are known to hide', () => {
    const rows = new Set(ALL_SHAPES.map((row) => row.selector))
    expect(REQUIRED_SELECTORS.filter((selector) => !rows.has(selector))).toEqual([])
  })

  it.each(ALL_SHAPES)('$canonical has the selector it hashes to', (row) => {
    expect(toFunctionSelector(`function ${row.canonical}`)).toBe(`0x${row.selector}`)
  })
})

describe.each(ALL_SHAPES.filter((row) => !PROGRAM_ROWS.has(row.selector)))(
  '$selector $name',
  (row) => {
    it('passes without a listed address', async () => {
      let index = 0
      const data = calldataOf(row, () => cleanAt(index++))
      expect(told(await screener.screen(callOf(data)))).toBe('clean')
    })

    it('is blocked wherever a listed address is, and says where', async () => {
      const places = placesOf(row)
      expect(places.length > 0).toBe(!NAMES_NOBODY.includes(row.selector))
      for (const { path } of places) {
        const data = calldataOf(row, (at) => (at === path ? LISTED : cleanAt(3)))
        expect(told(await screener.screen(callOf(data)))).toBe(`blocked test-list ${path}`)
      }
    })

    it('is refused when it is cut within its arguments', async () => {
      const data = calldataOf(row, () => cleanAt(1))
      const head = `${data.slice(0, 10 + (row.inputs.headBytes - 1) * 2)}` as const
      const outcome = told(await screener.screen(callOf(head as `0x${string}`)))
      expect(outcome).toBe(
        row.shared ? 'clean' : 'undecodable The calldata does not decode as the function it names.',
      )
    })
  },
)
