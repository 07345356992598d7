import { parseSignature, type TupleType } from '../abi-type.js'
import { bytesArrayAt, frameOf, tailAt } from '../frame-values.js'
import type { FrameReader } from '../shape.js'
import { WORD_BYTES } from '../words.js'

/** Compound's Bulker: actions are ASCII names, their data is plain ABI words. */
const BULKER_ACTIONS: ReadonlyMap<string, TupleType> = new Map(
  [
    'ACTION_SUPPLY_ASSET(address comet, address to, address asset, uint256 amount)',
    'ACTION_SUPPLY_NATIVE_TOKEN(address comet, address to, uint256 amount)',
    'ACTION_TRANSFER_ASSET(address comet, address to, address asset, uint256 amount)',
    'ACTION_WITHDRAW_ASSET(address comet, address to, address asset, uint256 amount)',
    'ACTION_WITHDRAW_NATIVE_TOKEN(address comet, address to, uint256 amount)',
    'ACTION_CLAIM_REWARD(address comet, address rewards, address src, bool shouldAccrue)',
  ].map((text) => {
    const { name, inputs } = parseSignature(text)
    return [name, inputs]
  }),
)

/** `invoke(bytes32[] actions, bytes[] data)` */
export const readBulkerActions: FrameReader = (frame, walker) => {
  const { state } = frame
  const names = tailAt(frame, frame.base, 0)
  const values = bytesArrayAt(frame, 1)
  if (names === null || values === null) return state.malformed(frame.path)
  for (const [i, value] of values.entries()) {
    const at = names + WORD_BYTES * (i + 1)
    if (at + WORD_BYTES > frame.end) return state.malformed(frame.path)
    const { buffer, byteOffset } = state.data
    const word = Buffer.from(buffer, byteOffset + at, WORD_BYTES)
    const action = BULKER_ACTIONS.get(word.toString('latin1').replace(/\0+$/, ''))
    const inner = frameOf(frame, value, i)
    const read = () =>
      action === undefined
        ? walker.sniff(inner, value.start, value.length)
        : walker.tuple(inner, action)
    if (!read()) return false
  }
  return true
}
