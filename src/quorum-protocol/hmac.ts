import { scratch } from './bytes.js'
import { sha256 } from './tagged.js'

const BLOCK_BYTES = 64
const HASH_BYTES = 32

/**
 * HMAC-SHA256 (RFC 2104) by two one-shot hashes: Node's Hmac is an object for the garbage collector
 * and costs more than both, and every signature takes two.
 * @param key at most 64 bytes
 * @param length the message's length
 * @param write writes the message where it is hashed, from `at` on, without a copy
 */
export function hmacSha256(
  key: Uint8Array,
  length: number,
  write: (room: Buffer, at: number) => void,
): Buffer {
  if (key.length > BLOCK_BYTES) throw new RangeError('HMAC key longer than a block')
  const inner = scratch(BLOCK_BYTES + length)
  writeKey(inner, key, 0x36)
  write(inner, BLOCK_BYTES)
  const innerHash = sha256(inner)
  inner.fill(0, 0, BLOCK_BYTES)
  const outer = scratch(BLOCK_BYTES + HASH_BYTES)
  writeKey(outer, key, 0x5c)
  outer.set(innerHash, BLOCK_BYTES)
  const code = sha256(outer)
  outer.fill(0, 0, BLOCK_BYTES)
  return code
}

function writeKey(room: Buffer, key: Uint8Array, pad: number): void {
  for (let i = 0; i < key.length; i++) room[i] = (key[i] ?? 0) ^ pad
  room.fill(pad, key.length, BLOCK_BYTES)
}
