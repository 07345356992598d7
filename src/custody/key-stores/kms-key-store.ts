import { createPublicKey } from 'node:crypto'
import { sameBytes } from '../../quorum-protocol/bytes.js'
import {
  keyIdOf,
  type P256Signer,
  publicKeyFromRaw,
  rawPublicKey,
} from '../../quorum-protocol/p256.js'
import { sha256 } from '../../quorum-protocol/tagged.js'
import { signatureFromDer } from './ecdsa-der.js'
import { type AgreementKey, KEYS_MAX, type KeyStore } from './key-store.js'
import type { KmsClient } from './kms-client.js'

/** The ids of this domain's keys in the service, kept in the domain's `store.json`. */
interface KmsKeyIds {
  readonly signing: readonly string[]
  readonly agreement: string | null
}

/**
 * Keys in a KMS. The private keys never leave it; the domain has only their ids on disk.
 * @param ids reads and writes them where the domain keeps them; durable when `write` returns
 */
export function openKmsKeyStore(
  kms: KmsClient,
  ids: { readonly read: () => KmsKeyIds; readonly write: (next: KmsKeyIds) => void },
): KeyStore {
  const opened = new Map<string, P256Signer>()

  async function signerOf(keyId: string): Promise<P256Signer> {
    const known = opened.get(keyId)
    if (known !== undefined) return known
    const publicKey = rawPublicKey(spki(await kms.publicKey(keyId)))
    const signer: P256Signer = {
      kid: keyIdOf(publicKey),
      publicKey,
      sign: async (message) => signatureFromDer(await kms.sign(keyId, sha256(message))),
    }
    opened.set(keyId, signer)
    return signer
  }

  async function agreementOf(keyId: string): Promise<AgreementKey> {
    const publicKey = rawPublicKey(spki(await kms.publicKey(keyId)))
    return {
      publicKey,
      async agree(peer) {
        const key = publicKeyFromRaw(peer).export({ type: 'spki', format: 'der' })
        const secret = await kms.deriveSharedSecret(keyId, key)
        if (secret.length !== 32) throw new Error('KMS: a shared secret has the wrong length')
        return secret
      },
    }
  }

  return {
    kind: 'kms',
    signers: () => Promise.all(ids.read().signing.map(signerOf)),
    async makeSigner() {
      const present = ids.read()
      if (present.signing.length >= KEYS_MAX) throw new Error(`more than ${KEYS_MAX} signing keys`)
      const keyId = await kms.createKey('SIGN_VERIFY')
      ids.write({ ...present, signing: [...present.signing, keyId] })
      return signerOf(keyId)
    },
    async removeSigner(kid) {
      // The KMS's own key stays, for its owner to disable there: deletion in a KMS is delayed
      // and // monitored, and not this process's task.
      const present = ids.read()
      const kept: string[] = []
      for (const keyId of present.signing) {
        if (!sameBytes((await signerOf(keyId)).kid, kid)) kept.push(keyId)
      }
      if (kept.length < present.signing.length) ids.write({ ...present, signing: kept })
    },
    async agreementKey() {
      const { agreement } = ids.read()
      return agreement === null ? null : agreementOf(agreement)
    },
    async makeAgreementKey() {
      const present = ids.read()
      if (present.agreement !== null) throw new Error('there is an agreement key already')
      const keyId = await kms.createKey('KEY_AGREEMENT')
      ids.write({ ...present, agreement: keyId })
      return agreementOf(keyId)
    },
    async close() {
      opened.clear()
    },
  }
}

function spki(der: Buffer) {
  const key = createPublicKey({ key: der, format: 'der', type: 'spki' })
  if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') {
    throw new Error('KMS: a key is not P-256')
  }
  return key
}
