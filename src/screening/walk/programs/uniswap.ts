/**
 * Uniswap's programs: one byte per step and one bytes value of arguments for each. Sources:
 * Universal Router `Commands.sol` and `Dispatcher.sol`, v4-periphery `Actions.sol` and
 * `CalldataDecoder.sol`.
 */
import { parseSignature, type Signature } from '../abi-type.js'
import { bytesArrayAt, bytesAt, frameOf } from '../frame-values.js'
import type { Frame, FrameReader, Walker } from '../shape.js'
import { WALK_DEPTH_MAX } from '../walk-state.js'

/** The top bit permits the step to fail without reverting the others. */
const COMMAND_MASK = 0x7f
const V4_SWAP = 0x10
const EXECUTE_SUB_PLAN = 0x21

const POOL_KEY =
  '(address currency0, address currency1, uint24 fee, int24 tickSpacing, address hooks) poolKey'
const V4_PATH =
  '(address currency, uint24 fee, int24 tickSpacing, address hooks, bytes hookData)[] path'

const COMMANDS = programTable([
  [0x00, 'v3SwapExactIn(address recipient, uint256 i, uint256 o, bytes:path path, bool payer)'],
  [0x01, 'v3SwapExactOut(address recipient, uint256 o, uint256 i, bytes:path path, bool payer)'],
  [0x02, 'permit2TransferFrom(address token, address recipient, uint160 amount)'],
  [
    0x03,
    'permit2PermitBatch(((address token, uint160 amount, uint48 expiration, uint48 nonce)[] details, address spender, uint256 deadline) _, bytes:opaque signature)',
  ],
  [0x04, 'sweep(address token, address recipient, uint256 amountMin)'],
  [0x05, 'transfer(address token, address recipient, uint256 value)'],
  [0x06, 'payPortion(address token, address recipient, uint256 bips)'],
  [0x08, 'v2SwapExactIn(address recipient, uint256 i, uint256 o, address[] path, bool payer)'],
  [0x09, 'v2SwapExactOut(address recipient, uint256 o, uint256 i, address[] path, bool payer)'],
  [
    0x0a,
    'permit2Permit(((address token, uint160 amount, uint48 expiration, uint48 nonce) details, address spender, uint256 deadline) _, bytes:opaque signature)',
  ],
  [0x0b, 'wrapEth(address recipient, uint256 amount)'],
  [0x0c, 'unwrapWeth(address recipient, uint256 amountMin)'],
  [0x0d, 'permit2TransferFromBatch((address from, address to, uint160 amount, address token)[] _)'],
  [0x0e, 'balanceCheckErc20(address owner, address token, uint256 minBalance)'],
])

const V4_ACTIONS = programTable([
  [
    0x02,
    `mintPosition(${POOL_KEY}, int24 a, int24 b, uint256 l, uint128 c, uint128 d, address owner, bytes hookData)`,
  ],
  [
    0x05,
    `mintPositionFromDeltas(${POOL_KEY}, int24 a, int24 b, uint128 c, uint128 d, address owner, bytes hookData)`,
  ],
  [
    0x06,
    `swapExactInSingle((${POOL_KEY}, bool zeroForOne, uint128 a, uint128 b, bytes hookData) _)`,
  ],
  [0x07, `swapExactIn((address currencyIn, ${V4_PATH}, uint128 a, uint128 b) _)`],
  [
    0x08,
    `swapExactOutSingle((${POOL_KEY}, bool zeroForOne, uint128 a, uint128 b, bytes hookData) _)`,
  ],
  [0x09, `swapExactOut((address currencyOut, ${V4_PATH}, uint128 a, uint128 b) _)`],
  [0x0b, 'settle(address currency, uint256 amount, bool payerIsUser)'],
  [0x0c, 'settleAll(address currency, uint256 maxAmount)'],
  [0x0d, 'settlePair(address currency0, address currency1)'],
  [0x0e, 'take(address currency, address recipient, uint256 amount)'],
  [0x0f, 'takeAll(address currency, uint256 minAmount)'],
  [0x10, 'takePortion(address currency, address recipient, uint256 bips)'],
  [0x11, 'takePair(address currency0, address currency1, address recipient)'],
  [0x14, 'sweep(address currency, address to)'],
])

/** `execute(bytes commands, bytes[] inputs, …)` */
export const readUniversalRouter: FrameReader = (frame, walker) => {
  const commands = bytesAt(frame, 0)
  const inputs = bytesArrayAt(frame, 1)
  if (commands === null || inputs === null || commands.length !== inputs.length) {
    return frame.state.malformed(frame.path)
  }
  for (const [i, input] of inputs.entries()) {
    if (!frame.state.spend(input.length, frame.depth, frame.path)) return false
    const command = (frame.state.data[commands.start + i] ?? 0) & COMMAND_MASK
    if (!readCommand(command, frameOf(frame, input, i), walker)) return false
  }
  return true
}

/**
 * Reads one step. Forks of the router number their commands and lay out their inputs differently,
 * so inputs with another layout are not refused: they are left to the raw scan.
 */
function readCommand(command: number, frame: Frame, walker: Walker): boolean {
  const { state } = frame
  const anything = () => walker.sniff(frame, frame.base, frame.end - frame.base)
  const deeper = { ...frame, depth: frame.depth + 1 }
  if (command === EXECUTE_SUB_PLAN && frame.depth >= WALK_DEPTH_MAX) {
    return state.fail('too-deep', 'The calldata nests sub-plans too deep.', frame.path)
  }
  const read =
    command === EXECUTE_SUB_PLAN
      ? () => readUniversalRouter(deeper, walker)
      : command === V4_SWAP
        ? () => readV4Program(deeper, walker)
        : stepReader(COMMANDS.get(command), frame, walker)
  if (read === null) return anything()
  const outcome = state.attempt(read)
  return outcome === 'other' ? anything() : outcome === 'read'
}

function stepReader(
  step: Signature | undefined,
  frame: Frame,
  walker: Walker,
): (() => boolean) | null {
  return step === undefined ? null : () => walker.tuple(labelled(frame, step), step.inputs)
}

/** `modifyLiquidities(bytes unlockData, …)` */
export const readV4Actions: FrameReader = (frame, walker) => {
  const unlockData = bytesAt(frame, 0)
  if (unlockData === null) return frame.state.malformed(frame.path)
  const { start, length } = unlockData
  return readV4Program({ ...frame, base: start, end: start + length }, walker)
}

/** `(bytes actions, bytes[] params)`; layouts of single actions differ between versions. */
function readV4Program(frame: Frame, walker: Walker): boolean {
  const actions = bytesAt(frame, 0)
  const params = bytesArrayAt(frame, 1)
  if (actions === null || params === null || actions.length !== params.length) {
    return frame.state.malformed(frame.path)
  }
  for (const [i, param] of params.entries()) {
    const inner = frameOf(frame, param, i)
    if (!frame.state.spend(param.length, frame.depth, inner.path)) return false
    const action = V4_ACTIONS.get(frame.state.data[actions.start + i] ?? 0)
    if (action === undefined) continue
    const read = () => walker.tuple(labelled(inner, action), action.inputs)
    if (frame.state.attempt(read) === 'stopped') return false
  }
  return true
}

function labelled(frame: Frame, step: Signature): Frame {
  return { ...frame, path: { parent: frame.path, label: step.name, call: true } }
}

function programTable(
  rows: readonly (readonly [number, string])[],
): ReadonlyMap<number, Signature> {
  return new Map(rows.map(([code, signature]) => [code, parseSignature(signature)]))
}
