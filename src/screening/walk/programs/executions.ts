import { parseSignature } from '../abi-type.js'
import { bytesArrayAt, bytesAt, frameOf } from '../frame-values.js'
import type { Frame, FrameReader, Walker } from '../shape.js'

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
/** The layout without reading the calls. */
const BATCH_LAYOUT = parseSignature(
  'batch((address target, uint256 value, bytes:opaque callData)[] _)',
).inputs

/**
 * `(bytes32 mode, bytes executionCalldata)` of ERC-7579 and ERC-7821. Other contracts may use the
 * same two types differently: an execution with another layout is left to the raw scan, but a known
 * function within one that decodes must match its shape.
 */
export const readExecution: FrameReader = (frame, walker) => {
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
