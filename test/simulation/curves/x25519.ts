import { type KeyObject, randomBytes } from 'node:crypto'
import { sha256 } from '../../../src/quorum-protocol/tagged.js'
import type * as X25519 from '../../../src/quorum-protocol/x25519.js'
import { areCurvesReal } from './choice.js'

/** What stands for a private key knows no more than its public one. */
interface StandIn {
  readonly publicKey: Buffer
}

/** The module, with a stand-in for key agreement: a hash of both public keys. */
export function standInX25519(real: typeof X25519): typeof X25519 {
  return {
    ...real,
    x25519Pair() {
      if (areCurvesReal()) return real.x25519Pair()
      const publicKey = randomBytes(32)
      const privateKey: StandIn = { publicKey }
      return { privateKey: privateKey as unknown as KeyObject, publicKey }
    },
    agreedSecret(privateKey, peer) {
      if (areCurvesReal()) return real.agreedSecret(privateKey, peer)
      const { publicKey } = privateKey as unknown as StandIn
      return sha256(Buffer.concat([publicKey, peer].sort(Buffer.compare)))
    },
  }
}
