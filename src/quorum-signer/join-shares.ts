import { addInto, signDigest } from '../quorum-protocol/curve.js'
import { Refusal } from '../quorum-protocol/refusal.js'
import { type OpenedShares, POINT_BYTES, SHARE_BYTES } from '../quorum-protocol/sealed-shares.js'
import { KnownKeys } from './known-keys.js'
import type { QuorumSessions } from './sessions.js'

const knownKeys = new KnownKeys()

/** Both shares of some keys, sealed for the same intents in the same order. */
interface SealedHalves {
  readonly user: Uint8Array
  readonly service: Uint8Array
  /** 32 bytes each. */
  readonly ids: readonly Uint8Array[]
}

/**
 * Signs once with the key at one position, whose shares are then wiped.
 * @throws Refusal UNAUTHENTIC when the shares do not make the key that the identity provider named
 */
type SignWith = (place: number, digest: Uint8Array) => Buffer

/**
 * The only place where wallet keys exist: the shares are open only during `use`. Two are added in
 * place, used once and wiped, one key at a time; all are wiped whatever happens.
 *
 * A signature by any key other than the wallet's own never leaves. ECDSA is linear in the key:
 * adding δ to a share gives a signature of the approved hash z by another key, which equals one of
 * z + r·δ by the wallet's key, and nobody approved that hash.
 * @throws Refusal when either share is not sealed for exactly these ids
 */
export function withShares<T>(
  { user, service, ids }: SealedHalves,
  sessions: QuorumSessions,
  use: (signWith: SignWith) => T,
): T {
  let fromUser: OpenedShares | undefined
  let fromService: OpenedShares | undefined
  try {
    fromUser = sessions.open('user', user, ids)
    fromService = sessions.open('service', service, ids)
    const { shares, points } = fromUser
    const others = fromService.shares
    return use((place, digest) => {
      const at = place * SHARE_BYTES
      const key = shares.subarray(at, at + SHARE_BYTES)
      const other = others.subarray(at, at + SHARE_BYTES)
      const point = points.subarray(place * POINT_BYTES, (place + 1) * POINT_BYTES)
      try {
        addInto(key, other)
        if (!knownKeys.makes(key, point)) {
          throw new Refusal('UNAUTHENTIC', 'the shares make another key than the wallet’s')
        }
        return signDigest(digest, key)
      } finally {
        key.fill(0)
        other.fill(0)
      }
    })
  } finally {
    fromUser?.shares.fill(0)
    fromService?.shares.fill(0)
  }
}
