import { sha256 } from './tagged.js'

const BLOCK_BYTES = 64
const HASH_BYTES = 32

/**
 * HMAC-SHA256 (RFC 2104) by two hashes of one call each: an Hmac of Node's is an object of its own
 * for the garbage collector, and dearer than both, and every signature takes two.
 * @param key at most 64 bytes
 * @param length of the message
 * @param write puts the message where it is hashed: no copy of it is made
 */
export function hmacSha256(key: Uint8Array, length: number, write: (room: Buffer) => void): Buffer {
  if (key.length > BLOCK_BYTES) throw new RangeError('HMAC key longer than a block')
  const inner = Buffer.allocUnsafe(BLOCK_BYTES + length)
  const outer = Buffer.allocUnsafe(BLOCK_BYTES + HASH_BYTES)
  inner.fill(0x36, 0, BLOCK_BYTES)
  outer.fill(0x5c, 0, BLOCK_BYTES)
  for (let i = 0; i < key.length; i++) {
    inner[i] = (key[i] ?? 0) ^ 0x36
    outer[i] = (key[i] ?? 0) ^ 0x5c
  }
  write(inner.subarray(BLOCK_BYTES))
  outer.set(sha256(inner), BLOCK_BYTES)
  const code = sha256(outer)
  // The memory is Node's pool's: it is given out again.
  inner.fill(0, 0, BLOCK_BYTES)
  outer.fill(0, 0, BLOCK_BYTES)
  return code
}
