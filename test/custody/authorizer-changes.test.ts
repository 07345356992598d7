import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  type AuthorizerSet,
  CHANGES_MAX,
  NO_AUTHORIZERS,
  verifyEntry,
} from '../../src/custody/authorizers/authorizer-set.js'
import {
  type AuthorizerCertificate,
  authorizerIdOf,
  certificateMessage,
  encodeCertificate,
} from '../../src/custody/authorizers/certificate.js'
import { encodeProof } from '../../src/custody/authorizers/proof.js'
import { encodeRootApproval, recoveryMessage } from '../../src/custody/authorizers/recovery.js'
import { type P256Signer, p256SignerOf, rawPublicKey } from '../../src/quorum-protocol/p256.js'

/** One of a user's authorizers gone bad: it may change what there is, up to a bound. */

const OWNER = randomBytes(32)
const NONE = Buffer.alloc(0)
const root = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const CONTEXT = { webauthn: null, root: root.publicKey, signCount: () => 0 }

interface Key {
  readonly id: Buffer
  readonly publicKey: Buffer
  readonly signer: P256Signer
}

function newKey(): Key {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const publicKey = rawPublicKey(pair.publicKey)
  return { id: authorizerIdOf(NONE, publicKey), publicKey, signer: p256SignerOf(pair.privateKey) }
}

function certificateOf(set: AuthorizerSet, action: 'add' | 'remove', key: Key): Buffer {
  const certificate: AuthorizerCertificate = {
    ...{ action, ownerHash: OWNER, sequence: set.sequence + 1, previous: set.head },
    ...{ createdAtMs: 1, nonce: Buffer.alloc(16), kind: 'p256', label: 'a key' },
    ...{ authorizerId: key.id, credentialId: NONE },
    publicKey: action === 'add' ? key.publicKey : NONE,
  }
  return encodeCertificate(certificate)
}

async function changed(
  set: AuthorizerSet,
  action: 'add' | 'remove',
  key: Key,
  by: Key | null,
): Promise<AuthorizerSet> {
  const certificate = certificateOf(set, action, key)
  const message = certificateMessage(certificate)
  const possession = action === 'add' ? await key.signer.sign(message) : NONE
  const approval =
    by === null
      ? NONE
      : encodeProof({
          ...{ kind: 'p256', authorizerId: by.id },
          signature: await by.signer.sign(message),
        })
  return (await verifyEntry(set, { certificate, possession, approval }, CONTEXT)).set
}

test('leaves the user a way back by the root, however often it changes them', async () => {
  const [own, bad, spare, fresh] = [newKey(), newKey(), newKey(), newKey()]
  let set = await changed(NO_AUTHORIZERS, 'add', own, null)
  set = await changed(set, 'add', bad, own)
  while (set.sequence < CHANGES_MAX) {
    const isThere = set.active.length > 2
    set = await changed(set, isThere ? 'remove' : 'add', spare, bad)
  }
  await expect(changed(set, 'remove', own, bad)).rejects.toMatchObject({ code: 'CONFLICT' })

  const certificate = certificateOf(set, 'add', fresh)
  const possession = await fresh.signer.sign(certificateMessage(certificate))
  const signature = await p256SignerOf(root.privateKey).sign(recoveryMessage(certificate))
  const approval = encodeRootApproval(signature)
  const recovered = await verifyEntry(set, { certificate, possession, approval }, CONTEXT)
  expect(recovered.set.active.map(({ id }) => id)).toEqual([fresh.id])
})
