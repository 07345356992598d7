import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openKeyStore } from '../../src/custody/key-stores/open-key-store.js'
import { writeStoreFile } from '../../src/custody/key-stores/store-file.js'
import { describeKeyStore } from '../key-stores/contract.js'
import { createTokenDirectory, type TokenDirectory } from '../support/softhsm.js'

/** Keys in PKCS#11 tokens, those of SoftHSM2. */
let root: string
let made = 0
/** Made before the library is first loaded: SoftHSM sees later ones in a new process only. */
let freshTokens: ReturnType<TokenDirectory['token']>[]
const TOKENS = 10

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'cs-keys-'))
  const tokens = createTokenDirectory(join(root, 'hsm'))
  process.env.SOFTHSM2_CONF = tokens.conf
  freshTokens = Array.from({ length: TOKENS }, (_, index) => tokens.token(`domain-${index}`))
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

function freshToken() {
  const token = freshTokens.pop()
  if (token === undefined) throw new Error('make more tokens')
  return token
}

function newDirectory(): string {
  const directory = join(root, `keys-${++made}`)
  writeStoreFile(directory, freshToken())
  return directory
}

describeKeyStore('pkcs11', newDirectory)

test('a key cannot be read out of the token', async () => {
  const { PKCS11, ...p11 } = (await import('pkcs11js')).default
  const settings = freshToken()
  const directory = join(root, 'sealed')
  writeStoreFile(directory, settings)
  const store = await openKeyStore(directory, 'refused')
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

test('a missing library, a missing token and a wrong PIN are named', async () => {
  const settings = freshToken()
  const directory = join(root, 'refusing')
  const opening = (change: object) => {
    writeStoreFile(directory, { ...settings, ...change })
    return expect(openKeyStore(directory, 'refused')).rejects
  }
  await opening({ module: '/nowhere/lib.so' }).toThrow(/\/nowhere\/lib\.so does not exist/)
  await opening({ token: 'absent' }).toThrow(/no token with the label absent/)
  const pin = join(root, 'wrong-pin')
  writeFileSync(pin, '111111', { mode: 0o600 })
  await opening({ pin_file: pin }).toThrow(/token domain-\d: login failed: CKR_PIN_INCORRECT/)
  writeFileSync(join(root, 'open-pin'), '111111', { mode: 0o644 })
  await opening({ pin_file: join(root, 'open-pin') }).toThrow(/must have mode 0600/)
})
