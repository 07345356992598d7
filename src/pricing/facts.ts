import { uintAt, wordAt } from '../contracts/abi-words.js'
import { feedCurrency } from '../contracts/feed-currency.js'
import { DECIMALS, DESCRIPTION } from '../contracts/selectors.js'
import type { Address, Hex } from '../domain/ids.js'
import type { PriceGap } from './price-source.js'

/**
 * A configured property of a token or a feed whose error would change amounts: with 18 decimals
 * instead of 6 a token counts a millionth of a millionth, and a feed in ETH a fraction. The chain
 * is asked along with the price readings until it has confirmed the fact; while it contradicts it,
 * there is no price.
 */
export interface Fact {
  readonly address: Address
  /** The calldata of the request. */
  readonly asked: Hex
  /** Null when nothing contradicts the configuration; before the first answer there is a gap. */
  gap: PriceGap | null
  /** True once the chain has confirmed the fact, which is then not read again. */
  isAgreed: boolean
  /**
   * @param answer of the contract; null when it refused. A request without an answer is not passed
   * here.
   */
  hear(answer: unknown): void
}

const DECIMALS_MAX = 77

export function tokenHasDecimals(token: Address, decimals: number): Fact {
  return fact(token, DECIMALS, (answer) => {
    const said = smallUint(answer)
    if (said === null) return { gap: 'feed-invalid', isAgreed: false }
    return said === decimals ? AGREED : MISCONFIGURED
  })
}

/**
 * Whether a feed is in USD. For a feed that names no currency, such as some venues' own, the
 * operator's configuration decides.
 */
export function isInDollars(feed: Address): Fact {
  return fact(feed, DESCRIPTION, (answer) => {
    const currency = feedCurrency(abiString(answer) ?? '')
    if (currency === null) return { gap: null, isAgreed: false }
    return currency === 'USD' ? AGREED : MISCONFIGURED
  })
}

type Heard = Pick<Fact, 'gap' | 'isAgreed'>
const AGREED: Heard = { gap: null, isAgreed: true }
const MISCONFIGURED: Heard = { gap: 'misconfigured', isAgreed: false }

function fact(address: Address, asked: Hex, judge: (answer: unknown) => Heard): Fact {
  return {
    ...{ address, asked, gap: 'feed-unreachable', isAgreed: false },
    hear(answer) {
      Object.assign(this, judge(answer))
    },
  }
}

/**
 * @returns null when the answer is not a single word of at most 77, the exponent of the largest
 * power of ten below 2^256
 */
export function smallUint(answer: unknown): number | null {
  if (typeof answer !== 'string' || !/^0x[0-9a-fA-F]{64}$/.test(answer)) return null
  const number = Number(answer)
  return number <= DECIMALS_MAX ? number : null
}

/** Longer than the name of any feed. */
const STRING_BYTES_MAX = 256

function abiString(answer: unknown): string | null {
  if (typeof answer !== 'string') return null
  const data = answer as Hex
  const length = uintAt(data, 1)
  if (uintAt(data, 0) !== 32n || length === null || length > STRING_BYTES_MAX) return null
  if (length > 0n && wordAt(data, 1 + Math.ceil(Number(length) / 32)) === null) return null
  return Buffer.from(data.slice(2 + 128, 2 + 128 + Number(length) * 2), 'hex').toString('utf8')
}
