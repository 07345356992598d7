import { parseSignature } from '../abi-type.js'
import { bytesArrayAt, bytesAt, frameOf } from '../frame-values.js'
import { type Frame, type FrameReader, type Shape, shape, type Walker } from '../shape.js'

const ADDRESS_BYTES = 20
/** Packed single execution: target, value, then the call's data. */
const SINGLE_HEADER_BYTES = ADDRESS_BYTES + 32

/** First byte of an ERC-7579 mode. */
const CALL_SINGLE = 0x00
const CALL_BATCH = 0x01
const CALL_DELEGATE = 0xff
/** ERC-7821: a batch of batches has this at bytes 6–9 of the mode. */
const BATCH_OF_BATCHES = [0x78, 0x21, 0x00, 0x02] as const

const BATCH = parseSignature(
  'batch((address target, uint256 value, bytes:call callData)[] _)',
).inputs
/** The same without looking into the calls. */
const BATCH_LAYOUT = parseSignature(
  'batch((address target, uint256 value, bytes:opaque callData)[] _)',
).inputs

/**
 * `(bytes32 mode, bytes executionCalldata)` of ERC-7579 and ERC-7821. Other contracts may give the
 * same two types another meaning: an execution of another layout is left to the raw scan, but a
 * known function within one that does decode is held to its shape.
 */
const readExecution: FrameReader = (frame, walker) => {
  const { state } = frame
  const execution = bytesAt(frame, 1)
  if (execution === null) return state.malformed(frame.path)
  const { start, length } = execution
  const inner = { ...frame, base: start, end: start + length, depth: frame.depth + 1 }
  const mode = state.data[frame.base]
  if (mode === CALL_BATCH) {
    const nested = BATCH_OF_BATCHES.every((byte, i) => state.data[frame.base + 6 + i] === byte)
    if (!nested) return readBatch(inner, walker)
    const batches = bytesArrayAt(inner, 0)
    if (batches === null) return walker.sniff(frame, start, length)
    return batches.every((batch, i) => {
      const at = frameOf(inner, batch, i)
      return state.spend(batch.length, inner.depth, at.path) && readBatch(at, walker)
    })
  }
  const headerBytes =
    mode === CALL_SINGLE ? SINGLE_HEADER_BYTES : mode === CALL_DELEGATE ? ADDRESS_BYTES : null
  if (headerBytes === null || length < headerBytes) return walker.sniff(frame, start, length)
  state.addParty(start, { parent: frame.path, label: 'target', call: false })
  return walker.call(frame, start + headerBytes, length - headerBytes)
}

function readBatch(frame: Frame, walker: Walker): boolean {
  const { state, base, end } = frame
  const noted = state.parties.length
  const outcome = state.attempt(() => walker.tuple(frame, BATCH_LAYOUT))
  state.parties.length = noted
  if (outcome === 'stopped') return false
  return outcome === 'read' ? walker.tuple(frame, BATCH) : walker.sniff(frame, base, end - base)
}

/** Multicall3, Disperse, Safe, ERC-4337, ERC-7579, ERC-7821 and plain account executors. */
export const ACCOUNT_SHAPES: readonly Shape[] = [
  shape('82ad56cb', 'aggregate3((address target, bool allowFailure, bytes:call callData)[] _)'),
  shape(
    '174dea71',
    'aggregate3Value((address target, bool allowFailure, uint256 value, bytes:call callData)[] _)',
  ),
  shape('252dba42', 'aggregate((address target, bytes:call callData)[] _)'),
  shape('bce38bd7', 'tryAggregate(bool requireSuccess, (address target, bytes:call callData)[] _)'),
  shape('e63d38ed', 'disperseEther(address[] recipients, uint256[] values)'),
  shape('c73a2d60', 'disperseToken(address token, address[] recipients, uint256[] values)'),
  shape('51ba162c', 'disperseTokenSimple(address token, address[] recipients, uint256[] values)'),
  // Safe
  shape(
    '6a761202',
    'execTransaction(address to, uint256 value, bytes:call data, uint8 operation, uint256 safeTxGas, uint256 baseGas, uint256 gasPrice, address gasToken, address refundReceiver, bytes:opaque signatures)',
  ),
  shape('8d80ff0a', 'multiSend(bytes:multisend _)'),
  shape(
    '1688f0b9',
    'createProxyWithNonce(address singleton, bytes:call initializer, uint256 saltNonce)',
  ),
  shape(
    'b63e800d',
    'setup(address[] owners, uint256 threshold, address to, bytes data, address fallbackHandler, address paymentToken, uint256 payment, address paymentReceiver)',
  ),
  shape('0d582f13', 'addOwnerWithThreshold(address owner, uint256 threshold)'),
  shape('e318b52b', 'swapOwner(address prevOwner, address oldOwner, address newOwner)'),
  shape('610b5925', 'enableModule(address module)'),
  shape(
    '468721a7',
    'execTransactionFromModule(address to, uint256 value, bytes:call data, uint8 operation)',
  ),
  // ERC-4337 v0.6 and v0.7
  shape(
    '1fad948c',
    'handleOps((address sender, uint256 nonce, bytes:prefix initCode, bytes:call callData, uint256 callGasLimit, uint256 verificationGasLimit, uint256 preVerificationGas, uint256 maxFeePerGas, uint256 maxPriorityFeePerGas, bytes:prefix paymasterAndData, bytes:opaque signature)[] _, address beneficiary)',
  ),
  shape(
    '765e827f',
    'handleOps((address sender, uint256 nonce, bytes:prefix initCode, bytes:call callData, bytes32 accountGasLimits, uint256 preVerificationGas, bytes32 gasFees, bytes:prefix paymasterAndData, bytes:opaque signature)[] _, address beneficiary)',
  ),
  // ERC-7579 and ERC-7821
  shape('e9ae5c53', 'execute(bytes32 mode, bytes:opaque executionCalldata)', readExecution),
  shape(
    'd691c964',
    'executeFromExecutor(bytes32 mode, bytes:opaque executionCalldata)',
    readExecution,
  ),
  shape('34fcd5be', 'executeBatch((address target, uint256 value, bytes:call data)[] _)'),
  shape('47e1da2a', 'executeBatch(address[] targets, uint256[] values, bytes:call[] data)'),
  shape('18dfb3c7', 'executeBatch(address[] targets, bytes:call[] data)'),
  shape('b61d27f6', 'execute(address target, uint256 value, bytes:call data)'),
]
