import { concatHex, getAddress, pad } from 'viem'
import { describe, expect, test } from 'vitest'
import type { Address, Hex } from '../../src/domain/ids.js'
import { opensToOthers } from '../../src/valuation/operator-calls.js'

const at = (end: string): Address => getAddress(`0x${end.padStart(40, '0')}`)
const [wallet, usdc, stranger] = [at('a6e47'), at('c1'), at('abcde')]
const word = (value: bigint | Address) => pad(`0x${BigInt(value).toString(16)}`)

describe('code that an account runs as its own', () => {
  const SAFE = '0x6a761202'
  const callOnly = getAddress('0x9641d764fc13c8B624c04430C7356C1C7C8102e2')
  const executed = (target: Address, operation: bigint): Hex =>
    concatHex([SAFE, word(target), word(0n), word(0x140n), word(operation)])

  test('opens up what has no price, but for Safe’s own list of calls', () => {
    expect(opensToOthers(executed(stranger, 1n))).toBe(true)
    expect(opensToOthers(executed(callOnly, 1n))).toBe(false)
    expect(opensToOthers(executed(callOnly, 2n))).toBe(true)
    expect(opensToOthers(executed(stranger, 0n))).toBe(false)
  })
})

describe('what changes hands within Balancer’s vault', () => {
  const moved = (offset: bigint, ...kinds: readonly bigint[]): Hex =>
    concatHex([
      ...['0x0e8e3e84' as const, word(offset), word(BigInt(kinds.length))],
      ...kinds.flatMap((kind) => [kind, usdc, 5n, wallet, stranger].map(word)),
    ])

  test('opens up what has no price, and what moves tokens does not', () => {
    expect(opensToOthers(moved(32n, 0n, 2n))).toBe(true)
    expect(opensToOthers(moved(32n, 0n, 1n, 3n))).toBe(false)
    expect(opensToOthers(moved(64n, 0n))).toBe(true)
  })
})
