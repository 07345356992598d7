import type { Frame } from './shape.js'
import { readIndex, WORD_BYTES } from './words.js'

/** A value's bytes within the calldata. */
interface ByteRange {
  readonly start: number
  readonly length: number
}

/**
 * The bytes argument whose head is the `index`th word of the frame.
 * @returns null when it does not lie within the frame
 */
export function bytesAt(frame: Frame, index: number): ByteRange | null {
  const at = tailAt(frame, frame.base, index)
  return at === null ? null : rangeAt(frame, at)
}

/**
 * The bytes[] argument whose head is the `index`th word of the frame.
 * @returns null when it or an element does not lie within the frame
 */
export function bytesArrayAt(frame: Frame, index: number): readonly ByteRange[] | null {
  const at = tailAt(frame, frame.base, index)
  if (at === null || at + WORD_BYTES > frame.end) return null
  const count = readIndex(frame.state.data, at)
  const base = at + WORD_BYTES
  if (count < 0 || count > (frame.end - base) / WORD_BYTES) return null
  const ranges: ByteRange[] = []
  for (let i = 0; i < count; i++) {
    const element = tailAt(frame, base, i)
    const range = element === null ? null : rangeAt(frame, element)
    if (range === null) return null
    ranges.push(range)
  }
  return ranges
}

/** The start of the dynamic value whose offset is the `index`th word from `base`. */
export function tailAt(frame: Frame, base: number, index: number): number | null {
  const head = base + index * WORD_BYTES
  if (head + WORD_BYTES > frame.end) return null
  const offset = readIndex(frame.state.data, head)
  return offset < 0 || base + offset > frame.end ? null : base + offset
}

function rangeAt(frame: Frame, at: number): ByteRange | null {
  if (at + WORD_BYTES > frame.end) return null
  const length = readIndex(frame.state.data, at)
  const start = at + WORD_BYTES
  return length < 0 || length > frame.end - start ? null : { start, length }
}

/** A frame for a value inside another: its own range, one label deeper. */
export function frameOf(frame: Frame, range: ByteRange, label: string | number): Frame {
  return {
    ...frame,
    base: range.start,
    end: range.start + range.length,
    path: { parent: frame.path, label, call: false },
  }
}
