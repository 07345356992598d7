import { createRequire } from 'node:module'
import type * as Pkcs11 from 'pkcs11js'
import { sameBytes } from '../../quorum-protocol/bytes.js'
import { keyIdOf, type P256Signer, publicKeyFromRaw } from '../../quorum-protocol/p256.js'
import { sha256 } from '../../quorum-protocol/tagged.js'
import { readPrivateFile } from '../domain-keys/private-file.js'
import { type AgreementKey, KEYS_MAX, type KeyStore } from './key-store.js'
import { openPkcs11Sessions, type Pkcs11Session } from './pkcs11-sessions.js'
import { SIGNING_LABEL } from './store-file.js'

/**
 * Keys in a PKCS#11 token: sensitive, not extractable, made inside it. One token per domain, so
 * that one domain's PIN opens nothing of another's.
 */
export interface Pkcs11Settings {
  /** Absolute path of the vendor's module, a shared library. */
  readonly module: string
  /** The token's label. */
  readonly token: string
  /** A file with the user PIN, mode 0600: every user can see a PIN on a command line. */
  readonly pin_file: string
  /** The CKA_LABEL of this machine's signing keys when several machines share a token. */
  readonly signing_label?: string | undefined
}

const AGREEMENT_LABEL = 'countersign-agreement'
/** OID 1.2.840.10045.3.1.7 (prime256v1), DER: CKA_EC_PARAMS. */
const P256_PARAMETERS = Buffer.from('06082a8648ce3d030107', 'hex')
/** CKA_EC_POINT is an OCTET STRING around the uncompressed point (PKCS#11 v2.40, 2.3.3). */
const POINT_PREFIX = Buffer.from('0441', 'hex')
const POINT_BYTES = 65

/** @throws Error that names the module or the token and the reason; never the PIN */
export function openPkcs11KeyStore(settings: Pkcs11Settings): KeyStore {
  const signingLabel = settings.signing_label ?? SIGNING_LABEL
  const p11 = loadBinding()
  const sessions = openPkcs11Sessions(p11, {
    modulePath: settings.module,
    token: settings.token,
    readPin: () => readPrivateFile(settings.pin_file),
  })

  function find(session: Pkcs11Session, template: Pkcs11.Template): Buffer[] {
    session.module.C_FindObjectsInit(session.handle, template)
    try {
      return session.module.C_FindObjects(session.handle, KEYS_MAX)
    } finally {
      session.module.C_FindObjectsFinal(session.handle)
    }
  }

  function idsOf(session: Pkcs11Session, label: string): Buffer[] {
    const keys = find(session, [
      { type: p11.CKA_CLASS, value: p11.CKO_PUBLIC_KEY },
      { type: p11.CKA_TOKEN, value: true },
      { type: p11.CKA_LABEL, value: label },
    ])
    return keys.map((key) => attribute(session, key, p11.CKA_EC_POINT))
  }

  function attribute(session: Pkcs11Session, object: Buffer, type: number): Buffer {
    const [found] = session.module.C_GetAttributeValue(session.handle, object, [{ type }])
    if (found === undefined) throw new Error(`token ${settings.token}: a key lacks an attribute`)
    return Buffer.from(found.value)
  }

  function privateKey(session: Pkcs11Session, id: Buffer): Buffer {
    const [key] = find(session, [
      { type: p11.CKA_CLASS, value: p11.CKO_PRIVATE_KEY },
      { type: p11.CKA_ID, value: id },
    ])
    if (key === undefined) throw new Error(`token ${settings.token}: a private key is missing`)
    return key
  }

  /** A pair is found by its CKA_ID, the id of the point, which is known only after it is made. */
  function make(session: Pkcs11Session, label: string, purpose: 'sign' | 'derive'): Buffer {
    const { module, handle } = session
    const pair = module.C_GenerateKeyPair(
      handle,
      { mechanism: p11.CKM_EC_KEY_PAIR_GEN },
      [
        { type: p11.CKA_TOKEN, value: true },
        { type: p11.CKA_EC_PARAMS, value: P256_PARAMETERS },
        { type: p11.CKA_VERIFY, value: purpose === 'sign' },
        { type: p11.CKA_DERIVE, value: purpose === 'derive' },
      ],
      [
        { type: p11.CKA_TOKEN, value: true },
        { type: p11.CKA_PRIVATE, value: true },
        { type: p11.CKA_SENSITIVE, value: true },
        { type: p11.CKA_EXTRACTABLE, value: false },
        { type: p11.CKA_SIGN, value: purpose === 'sign' },
        { type: p11.CKA_DERIVE, value: purpose === 'derive' },
      ],
    )
    const point = rawPoint(attribute(session, pair.publicKey, p11.CKA_EC_POINT))
    const name = [{ type: p11.CKA_ID, value: keyIdOf(point) }]
    module.C_SetAttributeValue(handle, pair.privateKey, name)
    // The label is set last: a pair that a crash left without one is never found.
    const labelled = [...name, { type: p11.CKA_LABEL, value: label }]
    module.C_SetAttributeValue(handle, pair.publicKey, labelled)
    return point
  }

  function rawPoint(encoded: Buffer): Buffer {
    const point = encoded.subarray(-POINT_BYTES)
    const prefix = encoded.subarray(0, -POINT_BYTES)
    if (prefix.length > 0 && !sameBytes(prefix, POINT_PREFIX)) {
      throw new Error(`token ${settings.token}: a key is not P-256`)
    }
    publicKeyFromRaw(point)
    return Buffer.from(point)
  }

  function signerOf(publicKey: Buffer): P256Signer {
    const kid = keyIdOf(publicKey)
    return {
      kid,
      publicKey,
      sign: (message) =>
        sessions.use(async (session) => {
          const digest = sha256(message)
          const out = Buffer.alloc(64)
          const mechanism = { mechanism: p11.CKM_ECDSA }
          session.module.C_SignInit(session.handle, mechanism, privateKey(session, kid))
          const signature = await session.module.C_SignAsync(session.handle, digest, out)
          // The binding keeps bare pointers to both buffers, which must outlive the call.
          if (signature.length !== out.length || digest.length !== 32) {
            throw new Error(`token ${settings.token}: a signature has the wrong length`)
          }
          return Buffer.from(signature)
        }),
    }
  }

  function agreementOf(publicKey: Buffer): AgreementKey {
    return {
      publicKey,
      agree: (peer) =>
        sessions.use(async (session) => {
          publicKeyFromRaw(peer)
          const parameter = {
            type: p11.CK_PARAMS_EC_DH,
            kdf: p11.CKD_NULL,
            publicData: Buffer.from(peer),
          }
          const secret = session.module.C_DeriveKey(
            session.handle,
            { mechanism: p11.CKM_ECDH1_DERIVE, parameter },
            privateKey(session, keyIdOf(publicKey)),
            [
              { type: p11.CKA_CLASS, value: p11.CKO_SECRET_KEY },
              { type: p11.CKA_KEY_TYPE, value: p11.CKK_GENERIC_SECRET },
              { type: p11.CKA_TOKEN, value: false },
              // The shared value belongs to one ephemeral key and goes to the caller; the long-term
              // key stays.
              { type: p11.CKA_SENSITIVE, value: false },
              { type: p11.CKA_EXTRACTABLE, value: true },
              { type: p11.CKA_VALUE_LEN, value: 32 },
            ],
          )
          try {
            return attribute(session, secret, p11.CKA_VALUE)
          } finally {
            session.module.C_DestroyObject(session.handle, secret)
          }
        }),
    }
  }

  return {
    kind: 'pkcs11',
    signers: () =>
      sessions.use(async (session) => idsOf(session, signingLabel).map(rawPoint).map(signerOf)),
    makeSigner: () =>
      sessions.use(async (session) => signerOf(make(session, signingLabel, 'sign'))),
    removeSigner: (kid) =>
      sessions.use(async (session) => {
        const id = [{ type: p11.CKA_ID, value: Buffer.from(kid) }]
        for (const object of find(session, id)) {
          session.module.C_DestroyObject(session.handle, object)
        }
      }),
    agreementKey: () =>
      sessions.use(async (session) => {
        const [encoded] = idsOf(session, AGREEMENT_LABEL)
        return encoded === undefined ? null : agreementOf(rawPoint(encoded))
      }),
    makeAgreementKey: () =>
      sessions.use(async (session) => {
        if (idsOf(session, AGREEMENT_LABEL).length > 0) {
          throw new Error(`token ${settings.token} has an agreement key already`)
        }
        return agreementOf(make(session, AGREEMENT_LABEL, 'derive'))
      }),
    close: async () => sessions.close(),
  }
}

/** @throws Error when the native module was not built for this machine */
function loadBinding(): typeof Pkcs11 {
  try {
    return createRequire(import.meta.url)('pkcs11js') as typeof Pkcs11
  } catch (cause) {
    throw new Error(
      'the native module pkcs11js is missing: install a C++ compiler and run npm install again',
      { cause },
    )
  }
}
