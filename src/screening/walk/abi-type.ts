/**
 * The types of the shape table. A shape is written as a Solidity signature whose types may have a
 * reading after a colon, for addresses that are not in an `address` and for bytes with nested
 * content: `swap(uint256:address to, bytes:call data)`. Without its readings and names, the
 * signature gives the selector.
 */

/** How a 32-byte word is read. */
type WordReading =
  | 'none'
  /** Low 20 bytes, whatever the upper 12 hold: many contracts mask them. */
  | 'address'
  /** Low 20 bytes when the upper 12 are zero; otherwise the account of a chain without EVM. */
  | 'evm'
  /** High 20 bytes. */
  | 'high'

/** How a bytes or string value is read in addition to the raw scan. */
type BytesReading =
  /** Calldata if it starts with a known selector and decodes; otherwise arbitrary bytes. */
  | 'sniff'
  /** Calldata of a call that will be made: a known selector must decode. */
  | 'call'
  /** Signatures, proofs and similar bytes without addresses. */
  | 'opaque'
  /** Starts with an address (initCode, paymasterAndData, a raw recipient). */
  | 'prefix'
  /** Uniswap v3 path: 20, then 3 + 20 for each hop. */
  | 'path'
  /** Safe multiSend: 1 + 20 + 32 + 32 + n for each call. */
  | 'multisend'
  /** CoW order uid: 32 + 20 + 4. */
  | 'orderuid'
  /** ASCII hex of an address, by itself or within a memo. */
  | 'ascii'

export type AbiType = WordType | BytesType | ArrayType | TupleType

interface WordType {
  readonly kind: 'word'
  readonly reading: WordReading
  readonly dynamic: false
  readonly headBytes: 32
}

export interface BytesType {
  readonly kind: 'bytes'
  readonly reading: BytesReading
  readonly dynamic: true
  readonly headBytes: 32
}

export interface ArrayType {
  readonly kind: 'array'
  readonly element: AbiType
  /** Null: the value has its own length. */
  readonly length: number | null
  readonly dynamic: boolean
  readonly headBytes: number
  /** True when no element can hold an address: its length is checked, its elements are not. */
  readonly barren: boolean
}

export interface TupleType {
  readonly kind: 'tuple'
  readonly fields: readonly TupleField[]
  readonly dynamic: boolean
  readonly headBytes: number
}

interface TupleField {
  readonly name: string
  readonly type: AbiType
}

export interface Signature {
  readonly name: string
  /** Without names and readings, as hashed for the selector. */
  readonly canonical: string
  readonly inputs: TupleType
}

const WORD_READINGS: readonly string[] = ['none', 'address', 'evm', 'high']
const BYTES_READINGS: readonly string[] = [
  'sniff',
  'call',
  'opaque',
  'prefix',
  'path',
  'multisend',
  'orderuid',
  'ascii',
]
const TOKEN = /[A-Za-z0-9_:]+|[(),[\]]/g

/**
 * @param text for example `transfer(address to, uint256 amount)`
 * @throws SyntaxError when the signature is malformed, at load
 */
export function parseSignature(text: string): Signature {
  const tokens = text.match(TOKEN) ?? []
  let at = 0
  const take = (expected?: string): string => {
    const token = tokens[at++]
    if (token === undefined || (expected !== undefined && token !== expected)) {
      throw new SyntaxError(`bad signature at ${at}: ${text}`)
    }
    return token
  }

  const tuple = (): { type: TupleType; canonical: string } => {
    take('(')
    const fields: TupleField[] = []
    const parts: string[] = []
    while (tokens[at] !== ')') {
      if (fields.length > 0) take(',')
      const { type, canonical } = value()
      const named = tokens[at] !== ',' && tokens[at] !== ')'
      fields.push({ name: named ? take() : String(fields.length), type })
      parts.push(canonical)
    }
    take(')')
    return { type: tupleOf(fields), canonical: `(${parts.join(',')})` }
  }

  const value = (): { type: AbiType; canonical: string } => {
    let { type, canonical } = tokens[at] === '(' ? tuple() : elementary(take())
    while (tokens[at] === '[') {
      take('[')
      const length = tokens[at] === ']' ? null : Number(take())
      take(']')
      type = arrayOf(type, length)
      canonical += `[${length ?? ''}]`
    }
    return { type, canonical }
  }

  const name = take()
  const { type, canonical } = tuple()
  if (at !== tokens.length) throw new SyntaxError(`bad signature: ${text}`)
  return { name, canonical: name + canonical, inputs: type }
}

function elementary(token: string): { type: AbiType; canonical: string } {
  const [base = '', reading] = token.split(':')
  if (base === 'bytes' || base === 'string') {
    const chosen = reading ?? (base === 'string' ? 'ascii' : 'sniff')
    if (!BYTES_READINGS.includes(chosen))
      throw new SyntaxError(`unknown reading of bytes: ${token}`)
    return {
      type: { kind: 'bytes', reading: chosen as BytesReading, dynamic: true, headBytes: 32 },
      canonical: base,
    }
  }
  const chosen = reading ?? (base === 'address' ? 'address' : 'none')
  if (!WORD_READINGS.includes(chosen)) throw new SyntaxError(`unknown reading of a word: ${token}`)
  return {
    type: { kind: 'word', reading: chosen as WordReading, dynamic: false, headBytes: 32 },
    canonical: base,
  }
}

function tupleOf(fields: readonly TupleField[]): TupleType {
  const dynamic = fields.some((field) => field.type.dynamic)
  const inline = fields.reduce((sum, { type }) => sum + (type.dynamic ? 32 : type.headBytes), 0)
  return { kind: 'tuple', fields, dynamic, headBytes: inline }
}

function arrayOf(element: AbiType, length: number | null): ArrayType {
  const dynamic = length === null || element.dynamic
  const elementBytes = element.dynamic ? 32 : element.headBytes
  return {
    kind: 'array',
    element,
    length,
    dynamic,
    headBytes: length === null ? 32 : length * elementBytes,
    barren: isBarren(element),
  }
}

function isBarren(type: AbiType): boolean {
  switch (type.kind) {
    case 'word':
      return type.reading === 'none'
    case 'bytes':
      return false
    case 'array':
      return type.barren && !type.dynamic
    case 'tuple':
      return !type.dynamic && type.fields.every((field) => isBarren(field.type))
  }
}
