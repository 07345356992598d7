/** Larger lengths and offsets cannot lie within any calldata. */
const INDEX_MAX = 0x7fffffff

export const WORD_BYTES = 32

/** A 32-byte length or offset, or -1 when it cannot be one. `at` + 32 must lie within `data`. */
export function readIndex(data: Uint8Array, at: number): number {
  for (let i = at; i < at + 28; i++) if (data[i] !== 0) return -1
  const value =
    ((data[at + 28] as number) << 24) |
    ((data[at + 29] as number) << 16) |
    ((data[at + 30] as number) << 8) |
    (data[at + 31] as number)
  return value < 0 || value > INDEX_MAX ? -1 : value
}

/** The first four bytes at `at` as an unsigned integer. */
export function readSelector(data: Uint8Array, at: number): number {
  return (
    (((data[at] as number) << 24) |
      ((data[at + 1] as number) << 16) |
      ((data[at + 2] as number) << 8) |
      (data[at + 3] as number)) >>>
    0
  )
}

/** True when the upper 12 bytes are zero. */
export function hasAddressPadding(data: Uint8Array, at: number): boolean {
  for (let i = at; i < at + 12; i++) if (data[i] !== 0) return false
  return true
}

/**
 * True when a word of unknown meaning is likely an address: padded like one, and larger than 2^128,
 * which amounts and times never are.
 */
export function looksLikeAddress(data: Uint8Array, at: number): boolean {
  if (!hasAddressPadding(data, at)) return false
  return (
    ((data[at + 12] as number) |
      (data[at + 13] as number) |
      (data[at + 14] as number) |
      (data[at + 15] as number)) !==
    0
  )
}
