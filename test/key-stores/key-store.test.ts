import { diffieHellman, generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { KeyStore } from '../../src/custody/key-stores/key-store.js'
import {
  openKeyStore,
  type StoreFile,
  storeFilePath,
  writeStoreFile,
} from '../../src/custody/key-stores/open-key-store.js'
import { makeWrappingKey, readWrappingKey } from '../../src/custody/key-stores/wrapping-key.js'
import { publicKeyFromRaw, rawPublicKey, verifyP256 } from '../../src/custody/protocol/p256.js'
import { type FakeKms, startFakeKms } from '../support/fake-kms.js'
import { createTokenDirectory, type TokenDirectory } from '../support/softhsm.js'

/** One contract, three stores: what the domains rely on, whatever holds the keys. */
let root: string
let kms: FakeKms
let made = 0
/** Made before the library is first loaded: SoftHSM sees later ones in a new process only. */
let freshTokens: ReturnType<TokenDirectory['token']>[]
const TOKENS = 8

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'cs-keys-'))
  const tokens = createTokenDirectory(join(root, 'hsm'))
  process.env.SOFTHSM2_CONF = tokens.conf
  freshTokens = Array.from({ length: TOKENS }, (_, index) => tokens.token(`domain-${index}`))
  kms = await startFakeKms()
})
afterAll(async () => {
  await kms?.close()
  rmSync(root, { recursive: true, force: true })
})

const STORES: Record<KeyStore['kind'], () => StoreFile | null> = {
  files: () => null,
  pkcs11: freshToken,
  kms: () => {
    const path = join(root, `authorization-${made}`)
    writeFileSync(path, kms.authorization, { mode: 0o600 })
    return {
      kind: 'kms',
      url: kms.url,
      authorization_file: path,
      signing_keys: [],
      agreement_key: null,
    }
  },
}

function freshToken() {
  const token = freshTokens.pop()
  if (token === undefined) throw new Error('make more tokens')
  return token
}

/** A directory of keys for a new, empty store. */
function newDirectory(kind: KeyStore['kind']): string {
  const directory = join(root, `keys-${kind}-${++made}`)
  const settings = STORES[kind]()
  if (settings !== null) writeStoreFile(directory, settings)
  return directory
}

describe.each(['files', 'pkcs11', 'kms'] as const)('keys in %s', (kind) => {
  test('sign what their own public key verifies, many at once', async () => {
    const store = openKeyStore(newDirectory(kind), 'allowed')
    expect(store.kind).toBe(kind)
    expect(await store.signers()).toEqual([])
    const signer = await store.makeSigner()
    const messages = Array.from({ length: 24 }, (_, index) => Buffer.from(`message ${index}`))
    const signatures = await Promise.all(messages.map((message) => signer.sign(message)))
    const key = publicKeyFromRaw(signer.publicKey)
    for (const [index, message] of messages.entries()) {
      const signature = signatures[index] ?? Buffer.alloc(0)
      expect(verifyP256(key, message, signature)).toBe(true)
      expect(verifyP256(key, Buffer.concat([message, Buffer.of(0)]), signature)).toBe(false)
    }
    await store.close()
  })

  test('are there again after a restart, each under its id', async () => {
    const directory = newDirectory(kind)
    const before = openKeyStore(directory, 'allowed')
    const ids = [await before.makeSigner(), await before.makeSigner()].map(({ kid }) => kid)
    await before.close()
    const after = openKeyStore(directory, 'allowed')
    const found = await after.signers()
    expect(found.map(({ kid }) => kid.toString('hex')).sort()).toEqual(
      ids.map((kid) => kid.toString('hex')).sort(),
    )
    for (const signer of found) {
      const signature = await signer.sign(Buffer.from('again'))
      expect(verifyP256(publicKeyFromRaw(signer.publicKey), Buffer.from('again'), signature)).toBe(
        true,
      )
    }
    await after.close()
  })

  test('that are removed are gone, and only they', async () => {
    const store = openKeyStore(newDirectory(kind), 'allowed')
    const first = await store.makeSigner()
    const second = await store.makeSigner()
    await store.removeSigner(first.kid)
    await store.removeSigner(Buffer.alloc(8))
    expect((await store.signers()).map(({ kid }) => kid)).toEqual([second.kid])
    await store.close()
  })

  test('agree on the secret that the other end computes', async () => {
    const store = openKeyStore(newDirectory(kind), 'allowed')
    expect(await store.agreementKey()).toBeNull()
    const key = await store.makeAgreementKey()
    await expect(store.makeAgreementKey()).rejects.toThrow(/already/)
    const peer = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const expected = diffieHellman({
      privateKey: peer.privateKey,
      publicKey: publicKeyFromRaw(key.publicKey),
    })
    expect(await key.agree(rawPublicKey(peer.publicKey))).toEqual(expected)
    await expect(key.agree(Buffer.alloc(65, 4))).rejects.toThrow()
    expect((await store.agreementKey())?.publicKey).toEqual(key.publicKey)
    await store.close()
  })

  test('open the wrapping key that was sealed to them, and no other store does', async () => {
    const directory = newDirectory(kind)
    const store = openKeyStore(directory, 'allowed')
    const path = join(directory, 'wrapping.key')
    await makeWrappingKey(path, store)
    expect(statSync(path).mode & 0o077).toBe(0)
    const opened = await readWrappingKey(path, store)
    expect(opened).toHaveLength(32)
    expect(readFileSync(path).includes(opened)).toBe(kind === 'files')
    if (kind !== 'files') {
      const other = openKeyStore(newDirectory(kind), 'allowed')
      await other.makeAgreementKey()
      await expect(readWrappingKey(path, other)).rejects.toThrow(/sealed to another key/)
      writeFileSync(path, opened, { mode: 0o600 })
      await expect(readWrappingKey(path, store)).rejects.toThrow(/not sealed/)
      await other.close()
    }
    await store.close()
  })
})

describe('a key that is not in a file', () => {
  test('never leaves the KMS: no answer holds anything but public keys and results', () => {
    const fields = new Set(kms.answers.flatMap((answer) => Object.keys(JSON.parse(answer))))
    expect([...fields].sort()).toEqual(['KeyMetadata', 'PublicKey', 'SharedSecret', 'Signature'])
  })

  test('cannot be read out of the token', async () => {
    const { PKCS11, ...p11 } = (await import('pkcs11js')).default
    const settings = freshToken()
    const directory = join(root, 'sealed')
    writeStoreFile(directory, settings)
    const store = openKeyStore(directory, 'refused')
    await store.makeSigner()
    const library = new PKCS11()
    library.load(settings.module)
    const slot = library
      .C_GetSlotList(true)
      .find((candidate) => library.C_GetTokenInfo(candidate).label.trimEnd() === settings.token)
    if (slot === undefined) throw new Error('no token')
    const session = library.C_OpenSession(slot, p11.CKF_SERIAL_SESSION)
    library.C_FindObjectsInit(session, [{ type: p11.CKA_CLASS, value: p11.CKO_PRIVATE_KEY }])
    const [key] = library.C_FindObjects(session, 1)
    library.C_FindObjectsFinal(session)
    if (key === undefined) throw new Error('no key')
    expect(() => library.C_GetAttributeValue(session, key, [{ type: p11.CKA_VALUE }])).toThrow(
      /SENSITIVE/,
    )
    library.C_CloseSession(session)
    await store.close()
  })
})

describe('a store that cannot be opened says which and why', () => {
  test('live refuses files unless it was told so', () => {
    const directory = newDirectory('files')
    expect(() => openKeyStore(directory, 'refused')).toThrow(/COUNTERSIGN_ALLOW_FILE_KEYS/)
  })

  test('a missing library, a missing token, a wrong PIN', () => {
    const settings = freshToken()
    const directory = join(root, 'refusing')
    const opening = (change: object) => {
      writeStoreFile(directory, { ...settings, ...change })
      return () => openKeyStore(directory, 'refused')
    }
    expect(opening({ module: '/nowhere/lib.so' })).toThrow(/\/nowhere\/lib\.so does not exist/)
    expect(opening({ token: 'absent' })).toThrow(/no token with the label absent/)
    const pin = join(root, 'wrong-pin')
    writeFileSync(pin, '111111', { mode: 0o600 })
    expect(opening({ pin_file: pin })).toThrow(/token domain-\d: login failed: CKR_PIN_INCORRECT/)
    writeFileSync(join(root, 'open-pin'), '111111', { mode: 0o644 })
    expect(opening({ pin_file: join(root, 'open-pin') })).toThrow(/must have mode 0600/)
  })

  test('a store file that is none, and a KMS that refuses', async () => {
    const directory = newDirectory('kms')
    const { url } = kms
    const wrong = join(root, 'wrong-authorization')
    writeFileSync(wrong, 'Bearer nobody', { mode: 0o600 })
    writeStoreFile(directory, {
      kind: 'kms',
      url,
      authorization_file: wrong,
      signing_keys: ['some-key'],
      agreement_key: null,
    })
    await expect(openKeyStore(directory, 'refused').signers()).rejects.toThrow(
      /GetPublicKey failed with 400 AccessDeniedException/,
    )
    writeFileSync(storeFilePath(directory), '{"kind": "abacus"}')
    expect(() => openKeyStore(directory, 'refused')).toThrow(/store\.json/)
    writeFileSync(storeFilePath(directory), '{')
    expect(() => openKeyStore(directory, 'refused')).toThrow(/store\.json is not JSON/)
  })

  test('a key file that holds something else', async () => {
    const directory = newDirectory('files')
    const store = openKeyStore(directory, 'allowed')
    await store.makeSigner()
    writeFileSync(join(directory, 'signing.pem'), 'nothing', { mode: 0o600 })
    await expect(store.signers()).rejects.toThrow(/signing\.pem is not a P-256 private key/)
  })
})
