import { addInto, signDigest } from '../quorum-protocol/curve.js'
import { SHARE_BYTES } from '../quorum-protocol/sealed-shares.js'
import type { QuorumSessions } from './sessions.js'

/** Both halves of some keys, sealed for the same intents in the same order. */
export interface SealedHalves {
  readonly user: Uint8Array
  readonly service: Uint8Array
  /** 32 bytes each. */
  readonly ids: readonly Uint8Array[]
}

/** Signs with the key at one place, once: afterwards its shares are gone. */
export type SignWith = (place: number, digest: Uint8Array) => Buffer

/**
 * The only place where wallet keys exist: the shares are opened for the time of `use`; two are
 * added in place, used once and wiped, one key at a time. Whatever happens, all are wiped.
 * @throws Refusal when either half is not sealed for exactly these ids
 */
export function withShares<T>(
  { user, service, ids }: SealedHalves,
  sessions: QuorumSessions,
  use: (signWith: SignWith) => T,
): T {
  let userShares: Buffer | undefined
  let serviceShares: Buffer | undefined
  try {
    userShares = sessions.open('user', user, ids)
    serviceShares = sessions.open('service', service, ids)
    const [mine, others] = [userShares, serviceShares]
    return use((place, digest) => {
      const at = place * SHARE_BYTES
      const key = mine.subarray(at, at + SHARE_BYTES)
      const other = others.subarray(at, at + SHARE_BYTES)
      try {
        addInto(key, other)
        return signDigest(digest, key)
      } finally {
        key.fill(0)
        other.fill(0)
      }
    })
  } finally {
    userShares?.fill(0)
    serviceShares?.fill(0)
  }
}
