import { bytesAt } from '../frame-values.js'
import type { FrameReader } from '../shape.js'

/** Bit 251 of 1inch's taker traits: the args start with the target. */
const ARGS_HAS_TARGET_BYTE = 0
const ARGS_HAS_TARGET_BIT = 0x08
const FILL_ORDER_TAKER_TRAITS_AT = 11 * 32
const FILL_ORDER_ARGS_HEAD = 12

/**
 * `fillOrderArgs(…, uint256 takerTraits, bytes args)`: the args have the target when the traits say
 * so.
 */
export const readTakerTarget: FrameReader = (frame) => {
  const args = bytesAt(frame, FILL_ORDER_ARGS_HEAD)
  if (args === null) return frame.state.malformed(frame.path)
  const traitsAt = frame.base + FILL_ORDER_TAKER_TRAITS_AT
  const flags = frame.state.data[traitsAt + ARGS_HAS_TARGET_BYTE] ?? 0
  if ((flags & ARGS_HAS_TARGET_BIT) === 0) return true
  if (args.length < 20) return frame.state.malformed(frame.path)
  frame.state.addParty(args.start, { parent: frame.path, label: 'target', call: false })
  return true
}

/** A commission word of OKX: 6 bytes of flag, 6 of rate, 20 of referrer. */
const COMMISSION_FLAG_PREFIXES: readonly (readonly number[])[] = [
  [0x3c, 0xa2, 0x0a, 0xfc, 0x2a, 0xaa],
  [0x3c, 0xa2, 0x0a, 0xfc, 0x2b, 0xbb],
  [0x22, 0x22, 0x0a, 0xfc, 0x2a, 0xaa],
  [0x22, 0x22, 0x0a, 0xfc, 0x2b, 0xbb],
]
/** Word offsets from the end: the last word, and the second referrer's, past the token's word. */
const COMMISSION_WORDS_FROM_END = [32, 96] as const

/** OKX appends its fee receivers after the ABI arguments. */
export const readCommissionTrailer: FrameReader = (frame) => {
  const { state } = frame
  for (const fromEnd of COMMISSION_WORDS_FROM_END) {
    const at = frame.end - fromEnd
    if (at < frame.base) continue
    const flagged = COMMISSION_FLAG_PREFIXES.some((prefix) =>
      prefix.every((byte, i) => state.data[at + i] === byte),
    )
    if (flagged) state.addParty(at + 12, { parent: frame.path, label: 'commission', call: false })
  }
  return true
}
