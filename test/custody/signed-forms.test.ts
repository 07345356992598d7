import { describe, expect, test } from 'vitest'
import { publicKeyFromRaw } from '../../src/quorum-protocol/p256.js'
import { openRegistry } from '../../src/quorum-protocol/registry.js'
import { TAG } from '../../src/quorum-protocol/tagged.js'
import { registryHash, sha256Hex } from './signed-form.js'
import { SIGNED_FORMS } from './signed-forms.js'
import recorded from './signed-forms.json' with { type: 'json' }

/**
 * What was signed once is verified for as long as evidence is kept, by builds that come later. Its
 * bytes are on record here: a form may be extended where what was signed before keeps its bytes, and
 * `signed-forms.json` is only ever added to.
 */
const FORMS: Readonly<Record<string, { readonly bytes: string; readonly message: string }>> =
  recorded.forms
const BY_NAME = SIGNED_FORMS.map((form) => [form.name, form] as const)
const NAMES_READ = SIGNED_FORMS.flatMap(({ name, again }) =>
  again === null ? [] : [[name, again] as const],
)

test('each form that is on record is made here', () => {
  expect(SIGNED_FORMS.map(({ name }) => name).sort()).toEqual(Object.keys(FORMS).sort())
})

test('each purpose of a signature keeps its tag', () => {
  expect(TAG).toMatchObject(recorded.tags)
  expect(new Set(Object.values(TAG)).size).toBe(Object.keys(TAG).length)
})

describe('what is signed has the bytes on record', () => {
  test.each(BY_NAME)('%s', (name, { bytes, message }) => {
    expect(Buffer.from(bytes).toString('hex')).toBe(FORMS[name]?.bytes)
    expect(sha256Hex(message)).toBe(FORMS[name]?.message)
  })
})

describe('what was signed is read, and has the same bytes when it is written again', () => {
  test.each(NAMES_READ)('%s', (name, again) => {
    const bytes = Buffer.from(FORMS[name]?.bytes ?? '', 'hex')
    expect(Buffer.from(again(bytes)).toString('hex')).toBe(FORMS[name]?.bytes)
  })
})

describe('a registry that a root signed', () => {
  const { root, body, signature, message, pins } = recorded.registry
  const key = publicKeyFromRaw(Buffer.from(root, 'hex'))
  const envelope = {
    body: Buffer.from(body, 'utf8'),
    signature: Buffer.from(signature, 'hex'),
  }

  test('verifies, and says what it said', () => {
    expect(registryHash(envelope.body)).toBe(message)
    const registry = openRegistry(envelope, key)
    const { router, delegate, maxFeePerGasWei } = registry.chains.get(8453) ?? {}
    expect({
      version: registry.version,
      environment: registry.environment,
      chains: [...registry.chains.keys()],
      router: Buffer.from(router ?? []).toString('hex'),
      delegate: Buffer.from(delegate ?? []).toString('hex'),
      maxFeePerGasWei: String(maxFeePerGasWei),
      webauthn: registry.webauthn,
      coSigners: registry.kidsOf('co_signers', pins.atMs).map((kid) => kid.toString('hex')),
      endedCoSigners: registry.kidsOf('co_signers', pins.endedAtMs).length,
      hasSoftwareAuthorizer: registry.softwareAuthorizer !== null,
    }).toEqual(pins.says)
  })

  test('is refused with any other byte in it', () => {
    const other = Buffer.from(body.replace('"version":3', '"version":4'), 'utf8')
    expect(() => openRegistry({ ...envelope, body: other }, key)).toThrow('not signed by the root')
  })
})
