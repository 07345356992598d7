import { bytesAt } from '../frame-values.js'
import { type FrameReader, type Shape, shape } from '../shape.js'

/** Bit 251 of 1inch's taker traits: the args start with the target. */
const ARGS_HAS_TARGET_BYTE = 0
const ARGS_HAS_TARGET_BIT = 0x08
const FILL_ORDER_TAKER_TRAITS_AT = 11 * 32
const FILL_ORDER_ARGS_HEAD = 12

/** `fillOrderArgs(…, uint256 takerTraits, bytes args)`: the target is there when the traits say so. */
const readTakerTarget: FrameReader = (frame) => {
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

/** OKX appends its fee receivers behind the ABI arguments. */
const readCommissionTrailer: FrameReader = (frame) => {
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

const ONE_INCH_DESC =
  '(address srcToken, address dstToken, address srcReceiver, address dstReceiver, uint256 amount, uint256 minReturn, uint256 flags) desc'
const PARASWAP_GENERIC =
  '(address srcToken, address destToken, uint256 a, uint256 b, uint256 c, bytes32 metadata, address beneficiary) _'
const PARASWAP_UNISWAP_V3 =
  '(address srcToken, address destToken, uint256 a, uint256 b, uint256 c, bytes32 metadata, address beneficiary, bytes pools) _'

/** 1inch v5 and v6, 0x Settler and AllowanceHolder, ParaSwap v6.2, OKX. */
export const AGGREGATOR_SHAPES: readonly Shape[] = [
  shape('12aa3caf', `swap(address executor, ${ONE_INCH_DESC}, bytes:opaque permit, bytes data)`),
  shape(
    'bc80f1a8',
    'uniswapV3SwapTo(address recipient, uint256 amount, uint256 minReturn, uint256:address[] pools)',
  ),
  shape('07ed2379', `swap(address executor, ${ONE_INCH_DESC}, bytes data)`),
  shape(
    'e2c95c82',
    'unoswapTo(uint256:address to, uint256:address token, uint256 amount, uint256 minReturn, uint256:address dex)',
  ),
  shape('175accdc', 'ethUnoswapTo(uint256:address to, uint256 minReturn, uint256:address dex)'),
  shape(
    'f497df75',
    'fillOrderArgs((uint256 salt, uint256:address maker, uint256:address receiver, uint256:address makerAsset, uint256:address takerAsset, uint256 making, uint256 taking, uint256 makerTraits) order, bytes32 r, bytes32 vs, uint256 amount, uint256 takerTraits, bytes:opaque args)',
    readTakerTarget,
  ),
  // 0x: the actions are selector-prefixed bytes of functions that no contract has
  shape(
    '1fff991f',
    'execute((address recipient, address buyToken, uint256 minAmountOut) slippage, bytes[] actions, bytes32 tracking)',
  ),
  shape(
    '2213bc0b',
    'exec(address operator, address token, uint256 amount, address target, bytes:call data)',
  ),
  shape(
    'c1fb425e',
    'TRANSFER_FROM(address recipient, ((address token, uint256 amount) permitted, uint256 nonce, uint256 deadline) permit, bytes:opaque signature)',
  ),
  shape('8d68a156', 'UNISWAPV3(address recipient, uint256 bps, bytes:opaque path, uint256 minOut)'),
  shape(
    '38c9c147',
    'BASIC(address sellToken, uint256 bps, address pool, uint256 offset, bytes data)',
  ),
  shape(
    'e3ead59e',
    `swapExactAmountIn(address executor, ${PARASWAP_GENERIC}, uint256:high partnerAndFee, bytes:opaque permit, bytes executorData)`,
  ),
  shape(
    '876a02f6',
    `swapExactAmountInOnUniswapV3(${PARASWAP_UNISWAP_V3}, uint256:high partnerAndFee, bytes:opaque permit)`,
  ),
  shape(
    '9871efa4',
    'unxswapByOrderId(uint256:address srcToken, uint256 amount, uint256 minReturn, bytes32:address[] pools)',
    readCommissionTrailer,
  ),
]
