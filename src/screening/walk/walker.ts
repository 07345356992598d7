/**
 * The second layer: a budgeted walk over calldata of known shape. It names the parties, gives each
 * a path, and refuses calldata that claims to be a known function and is not. The walk reads ranges
 * of the raw bytes and copies nothing, so a bomb of shared offsets costs its budget and no memory.
 */
import type { AbiType, ArrayType, BytesType, TupleType } from './abi-type.js'
import type { Frame, Shape, Walker } from './shape.js'
import { type PathNode, WALK_DEPTH_MAX, WalkState } from './walk-state.js'
import {
  hasAddressPadding,
  looksLikeAddress,
  readIndex,
  readSelector,
  WORD_BYTES,
} from './words.js'

const SELECTOR_BYTES = 4
const ADDRESS_BYTES = 20
/** The fee bytes between the tokens of a Uniswap v3 path. */
const PATH_FEE_BYTES = 3
/** Operation, to, value and data length. */
const MULTISEND_HEADER_BYTES = 1 + 20 + 32 + 32
const ORDER_UID_OWNER_AT = 32
const ORDER_UID_BYTES = 56
const ASCII_ADDRESS = /(?<![0-9a-fA-F])[0-9a-fA-F]{40}(?![0-9a-fA-F])/g
/** A name that is not shown in paths: `multicall[0]`, not `multicall.data[0]`. */
const UNNAMED = '_'

type ShapeTable = ReadonlyMap<number, Shape>

/** @throws Error when two rows have one selector */
export function shapeTable(rows: readonly Shape[]): ShapeTable {
  const table = new Map<number, Shape>()
  for (const row of rows) {
    const key = Number.parseInt(row.selector, 16)
    if (table.has(key)) throw new Error(`two shapes for selector ${row.selector}`)
    table.set(key, row)
  }
  return table
}

/**
 * Walks one calldata. The result's `failure` is null when every known function in it decoded.
 * @param data may be longer than the calldata
 * @param length bytes of calldata
 */
export function walkCalldata(table: ShapeTable, data: Uint8Array, length: number): WalkState {
  const state = new WalkState(data, length)
  if (length >= SELECTOR_BYTES) new CalldataWalker(table).top(state)
  return state
}

class CalldataWalker implements Walker {
  readonly #table: ShapeTable

  constructor(table: ShapeTable) {
    this.#table = table
  }

  top(state: WalkState): boolean {
    const shape = this.#table.get(readSelector(state.data, 0))
    if (shape === undefined) return this.#guessWords(state, SELECTOR_BYTES, state.length, null)
    if (!shape.shared) return this.#shape(shape, state, 0, state.length, null, 0)
    return state.attempt(() => this.#shape(shape, state, 0, state.length, null, 0)) !== 'stopped'
  }

  tuple(frame: Frame, type: TupleType): boolean {
    return this.#tuple(type, frame.state, frame.base, frame.end, frame.path, frame.depth)
  }

  call(frame: Frame, start: number, length: number): boolean {
    return this.#nested('call', frame.state, start, length, frame.path, frame.depth)
  }

  sniff(frame: Frame, start: number, length: number): boolean {
    return this.#nested('sniff', frame.state, start, length, frame.path, frame.depth)
  }

  #shape(
    shape: Shape,
    state: WalkState,
    start: number,
    end: number,
    parent: PathNode | null,
    depth: number,
  ): boolean {
    const path: PathNode = { parent, label: shape.name, call: true }
    const base = start + SELECTOR_BYTES
    if (!this.#tuple(shape.inputs, state, base, end, path, depth)) return false
    return shape.also === null || shape.also({ state, base, end, path, depth }, this)
  }

  #nested(
    reading: 'call' | 'sniff',
    state: WalkState,
    start: number,
    length: number,
    path: PathNode | null,
    depth: number,
  ): boolean {
    if (length < SELECTOR_BYTES) return true
    const shape = this.#table.get(readSelector(state.data, start))
    const end = start + length
    if (shape === undefined) {
      // Encoded calldata is a selector and words; a message without a selector is only words.
      const skip = length % WORD_BYTES === SELECTOR_BYTES ? SELECTOR_BYTES : 0
      return this.#guessWords(state, start + skip, end, path)
    }
    if (depth + 1 > WALK_DEPTH_MAX) {
      return state.fail('too-deep', `The calldata nests calls deeper than ${WALK_DEPTH_MAX}.`, path)
    }
    const walk = () => this.#shape(shape, state, start, end, path, depth + 1)
    return reading === 'call' && !shape.shared ? walk() : state.attempt(walk) !== 'stopped'
  }

  /** Notes what looks like addresses in bytes of unknown meaning: for people and for providers. */
  #guessWords(state: WalkState, start: number, end: number, parent: PathNode | null): boolean {
    const path: PathNode = { parent, label: parent === null ? 'data' : 'bytes', call: false }
    for (let at = start, i = 0; at + WORD_BYTES <= end; at += WORD_BYTES, i++) {
      if (!looksLikeAddress(state.data, at)) continue
      state.addParty(at + 12, { parent: path, label: i, call: false })
    }
    return true
  }

  #tuple(
    type: TupleType,
    state: WalkState,
    base: number,
    end: number,
    path: PathNode | null,
    depth: number,
  ): boolean {
    if (base + type.headBytes > end) return state.malformed(path)
    let head = base
    for (const field of type.fields) {
      const { type: inner } = field
      if (inner.kind === 'word' && inner.reading === 'none') {
        head += WORD_BYTES
        continue
      }
      const inside =
        field.name === UNNAMED ? path : { parent: path, label: field.name, call: false }
      if (!this.#atHead(inner, state, base, head, end, inside, depth)) return false
      head += inner.dynamic ? WORD_BYTES : inner.headBytes
    }
    return true
  }

  /** Reads a value whose head is at `head`; offsets count from `base`. */
  #atHead(
    type: AbiType,
    state: WalkState,
    base: number,
    head: number,
    end: number,
    path: PathNode | null,
    depth: number,
  ): boolean {
    if (!type.dynamic) return this.#value(type, state, head, end, path, depth)
    const offset = readIndex(state.data, head)
    if (offset < 0 || base + offset > end) return state.malformed(path)
    return this.#value(type, state, base + offset, end, path, depth)
  }

  #value(
    type: AbiType,
    state: WalkState,
    at: number,
    end: number,
    path: PathNode | null,
    depth: number,
  ): boolean {
    switch (type.kind) {
      case 'word':
        if (!state.spendNode(path)) return false
        if (type.reading === 'high') state.addParty(at, path)
        else if (type.reading === 'address' || hasAddressPadding(state.data, at)) {
          state.addParty(at + 12, path)
        }
        return true
      case 'tuple':
        return state.spendNode(path) && this.#tuple(type, state, at, end, path, depth)
      case 'array':
        return this.#array(type, state, at, end, path, depth)
      case 'bytes':
        return this.#bytes(type, state, at, end, path, depth)
    }
  }

  #array(
    type: ArrayType,
    state: WalkState,
    at: number,
    end: number,
    path: PathNode | null,
    depth: number,
  ): boolean {
    let start = at
    let count = type.length ?? 0
    if (type.length === null) {
      if (at + WORD_BYTES > end) return state.malformed(path)
      count = readIndex(state.data, at)
      start = at + WORD_BYTES
    }
    const { element } = type
    const step = element.dynamic ? WORD_BYTES : element.headBytes
    if (count < 0 || count > (end - start) / step) return state.malformed(path)
    if (!state.spend(count * step, depth, path)) return false
    if (type.barren) return true
    for (let i = 0; i < count; i++) {
      const inside: PathNode = { parent: path, label: i, call: false }
      if (!this.#atHead(element, state, start, start + i * step, end, inside, depth)) return false
    }
    return true
  }

  #bytes(
    type: BytesType,
    state: WalkState,
    at: number,
    end: number,
    path: PathNode | null,
    depth: number,
  ): boolean {
    if (at + WORD_BYTES > end) return state.malformed(path)
    const length = readIndex(state.data, at)
    const start = at + WORD_BYTES
    if (length < 0 || length > end - start) return state.malformed(path)
    if (!state.spend(length, depth, path)) return false
    switch (type.reading) {
      case 'opaque':
        return true
      case 'call':
      case 'sniff':
        return this.#nested(type.reading, state, start, length, path, depth)
      case 'prefix':
        if (length < ADDRESS_BYTES) return true
        state.addParty(start, path)
        return this.#nested(
          'sniff',
          state,
          start + ADDRESS_BYTES,
          length - ADDRESS_BYTES,
          path,
          depth,
        )
      case 'path':
        return this.#swapPath(state, start, length, path)
      case 'multisend':
        return this.#multiSend(state, start, start + length, path, depth)
      case 'orderuid':
        if (length !== ORDER_UID_BYTES) return state.malformed(path)
        state.addParty(start + ORDER_UID_OWNER_AT, path)
        return true
      case 'ascii':
        return this.#ascii(state, start, length, path)
    }
  }

  /**
   * Forks of the router share its selectors but not its paths: some pack the tokens without fees. A
   * path of any other length is left to the raw scan.
   */
  #swapPath(state: WalkState, start: number, length: number, path: PathNode | null): boolean {
    const hop = ADDRESS_BYTES + PATH_FEE_BYTES
    const withFees = length >= ADDRESS_BYTES && (length - ADDRESS_BYTES) % hop === 0
    const step = withFees ? hop : ADDRESS_BYTES
    if (!withFees && length % ADDRESS_BYTES !== 0) return true
    for (let at = 0, i = 0; at + ADDRESS_BYTES <= length; at += step, i++) {
      if (!state.spendNode(path)) return false
      state.addParty(start + at, { parent: path, label: i, call: false })
    }
    return true
  }

  #multiSend(
    state: WalkState,
    start: number,
    end: number,
    path: PathNode | null,
    depth: number,
  ): boolean {
    for (let at = start, i = 0; at < end; i++) {
      const item: PathNode = { parent: path, label: i, call: false }
      if (!state.spendNode(item)) return false
      const dataAt = at + MULTISEND_HEADER_BYTES
      if (dataAt > end) return state.malformed(item)
      const length = readIndex(state.data, dataAt - WORD_BYTES)
      if (length < 0 || length > end - dataAt) return state.malformed(item)
      state.addParty(at + 1, { parent: item, label: 'to', call: false })
      if (!this.#nested('call', state, dataAt, length, item, depth)) return false
      at = dataAt + length
    }
    return true
  }

  #ascii(state: WalkState, start: number, length: number, path: PathNode | null): boolean {
    const { buffer, byteOffset } = state.data
    const text = Buffer.from(buffer, byteOffset + start, length).toString('latin1')
    for (const match of text.matchAll(ASCII_ADDRESS)) {
      if (!state.spendNode(path)) return false
      state.parties.push({ offset: start + match.index, form: 'ascii', path })
    }
    return true
  }
}
