import { bareRecord, fromBareRecord, packed, unpacked } from './encodings/sealing.js'
import { KEY_SPACES, type KeySpace } from './key-spaces.js'
import type { Row } from './rows.js'

/** The number of each space, which is never reused. */
const NUMBERS = new Map(
  Object.entries(KEY_SPACES).map(([space, name]) => [space as KeySpace, Number.parseInt(name, 10)]),
)
const SPACES = new Map([...NUMBERS].map(([space, number]) => [number, space]))

/** Encodes rows for a journal: spaces by number, records without space for a seal. */
export function encodeRows(rows: readonly Row[]): Uint8Array {
  const bytes = packed(
    rows.map(([space, key, value]) => [
      NUMBERS.get(space),
      key,
      value === null ? null : bareRecord(value),
    ]),
  )
  // A copy, because the packed bytes lie in a block that other records share.
  return Uint8Array.from(bytes)
}

type Encoded = readonly [number, Row[1], Parameters<typeof fromBareRecord>[0] | null]

/**
 * @param bytes the result of `encodeRows`
 * @throws Error for a space that this build does not know
 */
export function decodeRows(bytes: Uint8Array): Row[] {
  return (unpacked(bytes) as Encoded[]).map(([number, key, value]): Row => {
    const space = SPACES.get(number)
    if (space === undefined) throw new Error(`the journal has rows of a key space ${number}`)
    return [space, key, value === null ? null : fromBareRecord(value)]
  })
}
