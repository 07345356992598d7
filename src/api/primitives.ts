import { z } from 'zod'
import { isHexBytes } from '../domain/hex-bytes.js'
import { isSeen, MISLEADING } from '../domain/printable.js'
import { hasPlausibleChecksum } from './parse-address.js'

/**
 * The wire's building blocks. Everything has a bound and nothing transforms: an operation receives
 * exactly what its schema accepts, so REST, MCP, OpenAPI and the client agree.
 */

/** Calldata above 128 KiB is refused (CONTRACT.md, "Conventions"). */
export const CALLDATA_BYTES_MAX = 131_072

const UINT256_DECIMAL_DIGITS_MAX = 78
const UINT256_MAX = (1n << 256n) - 1n
/** Every decimal with fewer digits than 2^256 − 1 is below it. */
const UINT256_SAFE_CHARS = UINT256_DECIMAL_DIGITS_MAX - 1
const INTEGER_TEXT = /^(?:\d+|0x[0-9a-fA-F]+)$/

/** Text that is not an integer passes, because another check refuses its form. */
function isUint256(text: string): boolean {
  if (text.length <= UINT256_SAFE_CHARS || !INTEGER_TEXT.test(text)) return true
  return BigInt(text) <= UINT256_MAX
}

export const chainId = z
  .int()
  .min(0)
  .max(Number.MAX_SAFE_INTEGER)
  .describe('EIP-155 chain id, e.g. 8453 for Base')

/** Any letter case; a mixed-case address must have a correct EIP-55 checksum. */
export const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, 'must be 0x and 40 hex digits')
  .refine(hasPlausibleChecksum, 'mixed-case address with a wrong EIP-55 checksum')
  .describe('EVM address')

/** The same, above zero. */
export const positiveAmount = z
  .string()
  .max(UINT256_DECIMAL_DIGITS_MAX)
  .regex(/^[1-9]\d*$/, 'must be a positive decimal integer string without leading zeros')
  .refine(isUint256, 'must be below 2^256')

/** The same, or "max". */
export const positiveAmountOrMax = z
  .string()
  .max(UINT256_DECIMAL_DIGITS_MAX)
  .regex(
    /^(?:max|[1-9]\d*)$/,
    'must be "max" or a positive decimal integer string without leading zeros',
  )
  .refine(isUint256, 'must be below 2^256')

/** Wei: decimal, or 0x-prefixed hex. */
export const weiAmount = z
  .string()
  .max(UINT256_DECIMAL_DIGITS_MAX)
  .regex(
    /^(?:0|[1-9]\d*|0x[0-9a-fA-F]{1,64})$/,
    'must be a non-negative integer string, decimal or 0x-prefixed hex',
  )
  .refine(isUint256, 'must be below 2^256')

export const calldata = z
  .string()
  .max(2 + 2 * CALLDATA_BYTES_MAX, 'calldata is limited to 131072 bytes')
  .refine(isHexBytes, 'must be 0x and an even number of hex digits')
  .meta({ pattern: '^0x(?:[0-9a-fA-F]{2})*$' })

/** Decimal USD with at most 6 fraction digits. */
const usdAmount = z
  .string()
  .max(24)
  .regex(/^(0|[1-9]\d{0,14})(\.\d{1,6})?$/, 'must be decimal USD with at most 6 fraction digits')
  .describe('decimal USD, such as "25.50"')

/** A cap: decimal USD, or "unlimited". */
export const usdCap = z.union([usdAmount, z.literal('unlimited')])

const LABEL_CHARS_MAX = 100

export const label = z
  .string()
  .min(1)
  .max(LABEL_CHARS_MAX)
  .regex(
    new RegExp(`^[^\\p{Cc}\\p{Cs}${MISLEADING}]+$`, 'u'),
    'must not contain control characters or marks of direction',
  )
  .refine(isSeen, 'must be seen: not of spaces alone, and without invisible characters')

export const nameSearch = z
  .string()
  .min(1)
  .max(LABEL_CHARS_MAX)
  .describe('how words of their names begin: those whose names have all of these, in any case')

/** Text that people write for people, such as a reason; may have several lines. */
export const remark = (charsMax: number) =>
  z
    .string()
    .max(charsMax)
    .regex(new RegExp(`^[^${MISLEADING}]*$`, 'u'), 'must not contain marks of direction')

export const timestamp = z.string().describe('ISO 8601 UTC with milliseconds')

export const txId = z.string().max(64).describe('transaction id, tx_…')

export const listLimit = z.int().min(1).max(100).describe('page size, 1 to 100, default 25')
export const listCursor = z.string().min(1).max(128).describe('next_cursor of the page before')
export const nextCursor = z.string().nullable()
