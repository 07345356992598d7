import { hash, randomFillSync } from 'node:crypto'
import { sameBytes } from '../quorum-protocol/bytes.js'
import { pointOf } from '../quorum-protocol/curve.js'
import { SHARE_BYTES } from '../quorum-protocol/sealed-shares.js'

/** The bound of keys whose digests are kept, about 200 bytes each. */
const KNOWN_KEYS_MAX = 65_536
const SECRET_BYTES = 32

/**
 * Tells whether a key makes a point. A multiplication on the curve takes as long as two thirds of a signature, so
 * the digest of a key that made its point is kept, under a random secret of this process: of the key
 * itself nothing stays.
 */
export class KnownKeys {
  /** The secret, then room for the key, which is wiped after each use. */
  readonly #preimage = randomFillSync(Buffer.alloc(SECRET_BYTES + SHARE_BYTES))
  readonly #room = this.#preimage.subarray(SECRET_BYTES)
  /** By point. */
  readonly #digests = new Map<string, Buffer>()

  makes(key: Uint8Array, point: Uint8Array): boolean {
    const name = Buffer.from(point.buffer, point.byteOffset, point.length).toString('latin1')
    const digest = this.#digestOf(key)
    const known = this.#digests.get(name)
    if (known !== undefined && sameBytes(known, digest)) return true
    if (!sameBytes(pointOf(key), point)) return false
    if (this.#digests.size >= KNOWN_KEYS_MAX) this.#digests.clear()
    this.#digests.set(name, digest)
    return true
  }

  #digestOf(key: Uint8Array): Buffer {
    this.#room.set(key)
    try {
      return hash('sha256', this.#preimage, 'buffer')
    } finally {
      this.#room.fill(0)
    }
  }
}
