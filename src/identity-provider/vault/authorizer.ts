import { createPrivateKey } from 'node:crypto'
import { readPrivateFile } from '../../custody/domain-keys/private-file.js'
import {
  type P256Signer,
  p256SignerOf,
  publicKeyFromRaw,
  verifyP256,
} from '../../custody/protocol/p256.js'
import { TAG, tagged } from '../../custody/protocol/tagged.js'

/**
 * Confirms that the user wants a grant enlarged: a console token alone, which the identity
 * provider itself could mint, must not be enough.
 */
export interface Authorizer {
  /** One sentence for the log at boot. */
  readonly announcement: string
  /**
   * @param change canonical bytes of the grant as it will be
   * @param confirmation what the user's authenticator made; null when the caller sent none
   */
  confirms(change: Uint8Array, confirmation: Uint8Array | null): Promise<boolean>
}

/**
 * Dev: a P-256 key on disk stands in for the passkey and confirms whatever it is asked, through
 * the same sign-and-verify path that a passkey takes.
 */
export function openSoftwareAuthorizer(path: string): Authorizer {
  const pem = readPrivateFile(path)
  const authenticator: P256Signer = p256SignerOf(createPrivateKey(pem))
  pem.fill(0)
  const publicKey = publicKeyFromRaw(authenticator.publicKey)
  return {
    announcement: 'dev: a software key confirms every grant in place of the user’s passkey',
    async confirms(change, confirmation) {
      const message = tagged(TAG.grantChange, change)
      const assertion = confirmation ?? (await authenticator.sign(message))
      return verifyP256(publicKey, message, assertion)
    },
  }
}

/** Confirms nothing: grants can be narrowed and revoked, not made. */
export const noAuthorizer: Authorizer = {
  announcement: 'no authorizer: grants can be narrowed and revoked, not made',
  confirms: () => Promise.resolve(false),
}
