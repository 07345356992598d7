import type { Hex } from '../domain/ids.js'
import { printable } from '../domain/printable.js'
import { uintAt } from './abi-words.js'
import { SHORT_REASONS } from './errors.js'
import { decodeKnownError, describeKnownError } from './known-errors.js'

/** `Error(string)` and `Panic(uint256)` (Solidity ABI, "Error handling"). */
const ERROR_SELECTOR = '0x08c379a0'
const PANIC_SELECTOR = '0x4e487b71'
/** A contract chooses its text; callers get about a sentence of it. */
const REASON_BYTES_MAX = 256
/** More than the number of values of any known error. */
const WORDS_MAX = 8

const PANICS: Readonly<Record<number, string>> = {
  1: 'assertion failed',
  17: 'arithmetic overflow or underflow',
  18: 'division by zero',
  33: 'invalid enum value',
  34: 'corrupt storage array',
  49: 'pop of an empty array',
  50: 'array index out of bounds',
  65: 'out of memory',
  81: 'call of an uninitialised function',
}

/**
 * Describes revert data: the string of `Error`, the meaning of a `Panic`, a known custom error with
 * its values or an unknown one's selector, or "reverted without a reason". Printable; at most 256
 * bytes of a contract's own text.
 */
export function decodeRevertReason(data: unknown): string {
  if (typeof data !== 'string' || !/^0x[0-9a-fA-F]*$/.test(data) || data.length < 10) {
    return 'reverted without a reason'
  }
  const selector = data.slice(0, 10).toLowerCase()
  const body = `0x${data.slice(10, 10 + 64 * 3 + REASON_BYTES_MAX * 2)}` as Hex
  if (selector === PANIC_SELECTOR) {
    const code = Number(uintAt(body, 0) ?? 0n)
    return `panic 0x${code.toString(16)}${PANICS[code] === undefined ? '' : `: ${PANICS[code]}`}`
  }
  if (selector !== ERROR_SELECTOR) {
    const known = decodeKnownError(data.slice(0, 10 + 64 * WORDS_MAX))
    return known === null ? `custom error ${selector}` : describeKnownError(known)
  }
  const length = uintAt(body, 1)
  if (uintAt(body, 0) !== 32n || length === null) return `custom error ${selector}`
  const bytes = Number(length < BigInt(REASON_BYTES_MAX) ? length : BigInt(REASON_BYTES_MAX))
  const words = printable(
    Buffer.from(body.slice(2 + 128, 2 + 128 + bytes * 2), 'hex').toString('utf8'),
  )
  const meaning = SHORT_REASONS.get(words)
  return meaning === undefined ? words : `${words}: ${meaning}`
}
