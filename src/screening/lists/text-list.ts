import { parseListedAddress } from '../set/address-bytes.js'
import type { EntryCollector } from './named-list.js'

/** A text list larger than this is refused whole: 1,000,000 lines with room for comments. */
export const TEXT_LIST_BYTES_MAX = 128 * 1024 * 1024

/** Text after the address on its line is a note: "0x…, name" and "0x… # why" both occur. */
const LINE_SEPARATORS = /[\s,;#]/

/**
 * Reads one address per line; `#` starts a comment. A line that is not an address is refused and
 * reported, and the rest of the list still counts.
 * @returns false when the last line breaks off in the middle of an address, because the file may
 * still be being written
 */
export function readTextList(text: string, into: EntryCollector): boolean {
  let whole = true
  let at = 0
  while (at < text.length) {
    const newline = text.indexOf('\n', at)
    const end = newline === -1 ? text.length : newline
    whole = readLine(text.slice(at, end), into) || newline !== -1
    at = end + 1
  }
  return whole
}

/** @returns false when the line holds something that is not an address */
export function readLine(line: string, into: EntryCollector): boolean {
  const trimmed = line.trim()
  if (trimmed === '' || trimmed.startsWith('#')) return true
  const word = trimmed.split(LINE_SEPARATORS, 1)[0] ?? ''
  const entry = parseListedAddress(word.replace(/^["']|["']$/g, ''))
  if (entry === null) {
    into.refuse(trimmed, 'malformed')
    return false
  }
  into.add(entry, word)
  return true
}
