import type { P256Signer } from '../quorum-protocol/p256.js'

/** A signer whose key can be exchanged during use: a rotation needs no restart. */
interface SwitchableSigner extends P256Signer {
  use(next: P256Signer): void
}

export function switchableSigner(first: P256Signer): SwitchableSigner {
  let current = first
  return {
    get kid() {
      return current.kid
    },
    get publicKey() {
      return current.publicKey
    },
    sign: (message) => current.sign(message),
    use(next) {
      current = next
    },
  }
}
