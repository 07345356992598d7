import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { storeFilePath } from '../../src/custody/key-stores/key-store.js'
import { openKeyStore } from '../../src/custody/key-stores/open-key-store.js'
import { writeStoreFile } from '../../src/custody/key-stores/store-file.js'
import { type FakeKms, startFakeKms } from '../support/fake-kms.js'
import { describeKeyStore } from './contract.js'

/** Keys in files and in a KMS; `test/pkcs11` has those in tokens. */
let root: string
let kms: FakeKms
let made = 0

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'cs-keys-'))
  kms = await startFakeKms()
})
afterAll(async () => {
  await kms?.close()
  rmSync(root, { recursive: true, force: true })
})

function newFiles(): string {
  return join(root, `keys-files-${++made}`)
}

function newKms(): string {
  const directory = join(root, `keys-kms-${++made}`)
  const path = join(root, `authorization-${made}`)
  writeFileSync(path, kms.authorization, { mode: 0o600 })
  writeStoreFile(directory, {
    kind: 'kms',
    url: kms.url,
    authorization_file: path,
    signing_keys: [],
    agreement_key: null,
  })
  return directory
}

describeKeyStore('files', newFiles)
describeKeyStore('kms', newKms)

describe('a key in a KMS', () => {
  test('never leaves the KMS: no answer holds anything but public keys and results', () => {
    const fields = new Set(kms.answers.flatMap((answer) => Object.keys(JSON.parse(answer))))
    expect([...fields].sort()).toEqual(['KeyMetadata', 'PublicKey', 'SharedSecret', 'Signature'])
  })
})

describe('a store that cannot be opened says which and why', () => {
  test('live refuses files unless it was told so', async () => {
    const directory = newFiles()
    await expect(openKeyStore(directory, 'refused')).rejects.toThrow(/COUNTERSIGN_ALLOW_FILE_KEYS/)
  })

  test('a store file that is none, and a KMS that refuses', async () => {
    const directory = newKms()
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
    const refusing = await openKeyStore(directory, 'refused')
    await expect(refusing.signers()).rejects.toThrow(
      /GetPublicKey failed with 400 AccessDeniedException/,
    )
    writeFileSync(storeFilePath(directory), '{"kind": "abacus"}')
    await expect(openKeyStore(directory, 'refused')).rejects.toThrow(/store\.json/)
    writeFileSync(storeFilePath(directory), '{')
    await expect(openKeyStore(directory, 'refused')).rejects.toThrow(/store\.json is not JSON/)
  })

  test('a key file that holds something else', async () => {
    const directory = newFiles()
    const store = await openKeyStore(directory, 'allowed')
    await store.makeSigner()
    writeFileSync(join(directory, 'signing.pem'), 'nothing', { mode: 0o600 })
    await expect(store.signers()).rejects.toThrow(/signing\.pem is not a P-256 private key/)
  })
})
