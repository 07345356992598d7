import type * as Curve from '../../../src/quorum-protocol/curve.js'
import { sha256 } from '../../../src/quorum-protocol/tagged.js'
import { areCurvesReal } from './choice.js'

const SCALAR_BYTES = 32
const POINT_PREFIX = 2
/** Of `r ‖ s ‖ yParity`. */
const S_AT = 32
const PARITY_AT = 64
/** An s is below 2^255: the bit above is the parity's. */
const LOW = 0x7f

/**
 * The module, with a stand-in for the curve: a point is its scalar, so that points add up as scalars
 * do, and a signature is the hash of point and digest with the point behind it. Of another digest,
 * key or half of a key it is nobody's, as a real one is.
 */
export function standInCurve(real: typeof Curve): typeof Curve {
  function standInPoint(scalar: Uint8Array): Buffer {
    const point = Buffer.alloc(1 + SCALAR_BYTES)
    point[0] = POINT_PREFIX
    point.set(scalar, 1)
    return point
  }
  function standInSignature(digest: Uint8Array, scalar: Uint8Array): Buffer {
    const signature = Buffer.alloc(PARITY_AT + 1)
    signature.set(sha256(Buffer.concat([scalar, digest])))
    signature.set(scalar, S_AT)
    const top = scalar[0] ?? 0
    signature[S_AT] = top & LOW
    signature[PARITY_AT] = top >> 7
    return signature
  }
  function standInRecovered(digest: Uint8Array, signature: Uint8Array): Buffer | null {
    if (signature.length !== PARITY_AT + 1) return null
    const scalar = Buffer.from(signature.subarray(S_AT, PARITY_AT))
    scalar[0] = (scalar[0] ?? 0) | ((signature[PARITY_AT] ?? 0) << 7)
    const isSame = Buffer.compare(standInSignature(digest, scalar), signature) === 0
    return isSame ? standInPoint(scalar) : null
  }
  return {
    ...real,
    signDigest: (digest, scalar) =>
      areCurvesReal() ? real.signDigest(digest, scalar) : standInSignature(digest, scalar),
    pointOf: (scalar) => (areCurvesReal() ? real.pointOf(scalar) : standInPoint(scalar)),
    addPoints(a, b) {
      if (areCurvesReal()) return real.addPoints(a, b)
      const sum = standInPoint(a.subarray(1))
      real.addInto(sum.subarray(1), b.subarray(1))
      return sum
    },
    addressOf(point) {
      return areCurvesReal() ? real.addressOf(point) : sha256(point).subarray(0, 20)
    },
    recoverPoint: (digest, signature) =>
      areCurvesReal() ? real.recoverPoint(digest, signature) : standInRecovered(digest, signature),
    isSignedBy(point, digest, signature) {
      if (areCurvesReal()) return real.isSignedBy(point, digest, signature)
      const recovered = standInRecovered(digest, signature)
      return recovered !== null && Buffer.compare(recovered, point) === 0
    },
  }
}
