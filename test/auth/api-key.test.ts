import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { type ApiKeyReader, createApiKeyAuthenticator } from '../../src/auth/api-key.js'
import { type ApiKey, ROTATION_GRACE_MS } from '../../src/domain/api-key.js'
import type { KeyId, LineageId, SubWalletId, UserId } from '../../src/domain/ids.js'
import { INITIAL_POLICY } from '../../src/domain/key-policy.js'
import { readerOf } from '../http/harness.js'

const SECRET = `sk_test_${'Ab-_'.repeat(8)}`
const HASH = createHash('sha256').update(SECRET).digest('hex')

const KEY: ApiKey = {
  ...INITIAL_POLICY,
  keyId: 'key_1' as KeyId,
  lineageId: 'key_1' as LineageId,
  subWalletId: 'sw_1' as SubWalletId,
  userId: 'user_1' as UserId,
  name: 'one',
  permission: 'trade',
  allowedChains: [1],
  environment: 'test',
  secretHash: HASH,
  secretPrefix: SECRET.slice(0, 12),
  createdAtMs: 0,
  rotatedFrom: null,
  rotatedAtMs: null,
  revokedAtMs: null,
}

/** A store of one key that counts its reads, and a clock that stops until it is moved. */
function setUp(key: ApiKey | null = KEY, cachedKeysMax = 10) {
  const state = {
    key,
    reads: 0,
    nowMs: 1_000_000,
    derived: [] as Uint8Array[],
    seen: [] as string[],
  }
  const reader: ApiKeyReader = {
    byHash: (hashHex) => {
      state.reads++
      return state.key?.secretHash === hashHex ? state.key : null
    },
    byId: () => null,
  }
  const authenticator = createApiKeyAuthenticator({
    reader,
    environment: 'test',
    deriveProofKey: () => {
      const proofKey = new Uint8Array(32).fill(9)
      state.derived.push(proofKey)
      return proofKey
    },
    nowMs: () => state.nowMs,
    saw: (keyId) => state.seen.push(keyId),
    cachedKeysMax,
  })
  const codeOf = (header: string) => {
    const result = authenticator.authenticate(header)
    return result.ok ? 'ok' : result.fault.code
  }
  return { state, authenticator, codeOf }
}

describe('the X-Api-Key header', () => {
  test.each([
    ['', 'UNAUTHENTICATED'],
    ['sk_test_', 'UNAUTHENTICATED'],
    [SECRET.slice(0, -1), 'UNAUTHENTICATED'],
    [`${SECRET}A`, 'UNAUTHENTICATED'],
    [` ${SECRET}`, 'UNAUTHENTICATED'],
    [`${SECRET}\n`, 'UNAUTHENTICATED'],
    [SECRET.toUpperCase(), 'UNAUTHENTICATED'],
    [`Bearer ${SECRET}`, 'UNAUTHENTICATED'],
    [SECRET.replace('sk_test_', 'sk_live_'), 'INVALID_KEY'],
    [`sk_test_${'x'.repeat(32)}`, 'INVALID_KEY'],
    [SECRET, 'ok'],
  ])('%j → %s', (header, code) => {
    expect(setUp().codeOf(header)).toBe(code)
  })

  test('malformed headers never reach the store', () => {
    const { state, codeOf } = setUp()
    codeOf('x')
    codeOf(SECRET.replace('sk_test_', 'sk_live_'))
    expect(state.reads).toBe(0)
  })

  test('a record of the other environment under a right hash is refused', () => {
    expect(setUp({ ...KEY, environment: 'live' }).codeOf(SECRET)).toBe('INVALID_KEY')
  })
})

describe('key status', () => {
  test('a revoked key cannot authenticate', () => {
    expect(setUp({ ...KEY, revokedAtMs: 5 }).codeOf(SECRET)).toBe('INVALID_KEY')
  })

  test('a rotated-out key works until its 24 hours are over, to the millisecond', () => {
    const { state, codeOf } = setUp({ ...KEY, rotatedAtMs: 1_000_000 })
    state.nowMs = 1_000_000 + ROTATION_GRACE_MS - 1
    expect(codeOf(SECRET)).toBe('ok')
    state.nowMs += 1
    expect(codeOf(SECRET)).toBe('INVALID_KEY')
  })

  test('a revocation is seen at once after invalidate', () => {
    const { state, authenticator, codeOf } = setUp()
    expect(codeOf(SECRET)).toBe('ok')
    state.key = { ...KEY, revokedAtMs: state.nowMs }
    authenticator.invalidate(HASH)
    expect(codeOf(SECRET)).toBe('INVALID_KEY')
  })

  test('a revocation is seen within seconds even without invalidate', () => {
    const { state, codeOf } = setUp()
    expect(codeOf(SECRET)).toBe('ok')
    state.key = { ...KEY, revokedAtMs: state.nowMs }
    state.nowMs += 5_000
    expect(codeOf(SECRET)).toBe('INVALID_KEY')
  })
})

describe('uses', () => {
  test('the first use in each minute is told, also of a record at hand, and none that is refused', () => {
    const { state, authenticator, codeOf } = setUp()
    state.nowMs = 60_000 - 1
    codeOf(SECRET)
    expect(state.seen).toEqual([KEY.keyId])
    state.nowMs += 1
    for (let i = 0; i < 3; i++) codeOf(SECRET)
    expect(state.seen).toEqual([KEY.keyId, KEY.keyId])
    expect(state.reads).toBe(1)
    state.key = { ...KEY, revokedAtMs: 1 }
    authenticator.invalidate(HASH)
    state.nowMs += 60_000
    expect(codeOf(SECRET)).toBe('INVALID_KEY')
    expect(state.seen).toHaveLength(2)
  })
})

describe('the cache', () => {
  test('a known key is read from the store once', () => {
    const { state, codeOf } = setUp()
    for (let i = 0; i < 100; i++) codeOf(SECRET)
    expect(state.reads).toBe(1)
    expect(state.derived).toHaveLength(1)
  })

  test('an unknown key is read once, and works as soon as it is issued and invalidated', () => {
    const { state, authenticator, codeOf } = setUp(null)
    for (let i = 0; i < 100; i++) expect(codeOf(SECRET)).toBe('INVALID_KEY')
    expect(state.reads).toBe(1)
    state.key = KEY
    authenticator.invalidate(HASH)
    expect(codeOf(SECRET)).toBe('ok')
  })

  test('an issued key works within a second even without invalidate', () => {
    const { state, codeOf } = setUp(null)
    expect(codeOf(SECRET)).toBe('INVALID_KEY')
    state.key = KEY
    state.nowMs += 1_000
    expect(codeOf(SECRET)).toBe('ok')
  })

  test('a clock that steps back makes entries stale, not immortal', () => {
    const { state, codeOf } = setUp()
    codeOf(SECRET)
    state.key = { ...KEY, revokedAtMs: 1 }
    state.nowMs -= 500_000
    expect(codeOf(SECRET)).toBe('INVALID_KEY')
  })

  test.each([
    ['invalidate', (u: ReturnType<typeof setUp>) => u.authenticator.invalidate(HASH)],
    ['clear', (u: ReturnType<typeof setUp>) => u.authenticator.clear()],
  ])('%s wipes the cached proof key and leaves the caller’s copy whole', (_how, forget) => {
    const unit = setUp()
    const result = unit.authenticator.authenticate(SECRET)
    forget(unit)
    expect(unit.state.derived[0]).toEqual(new Uint8Array(32))
    expect(result.ok && result.value.proofKey).toEqual(new Uint8Array(32).fill(9))
  })

  test('wiping a caller’s copy does not spoil the cached one', () => {
    const { authenticator } = setUp()
    const first = authenticator.authenticate(SECRET)
    if (first.ok) first.value.proofKey.fill(0)
    const second = authenticator.authenticate(SECRET)
    expect(second.ok && second.value.proofKey).toEqual(new Uint8Array(32).fill(9))
  })

  test('a key and all that were made below it, rotated ones too, have one rate', () => {
    const made = (name: string, lineage: string, parent?: string): ApiKey => ({
      ...KEY,
      keyId: name as KeyId,
      lineageId: lineage as LineageId,
      ...(parent === undefined ? {} : { parentLineageId: parent as LineageId }),
      secretHash: createHash('sha256').update(secretOf(name)).digest('hex'),
    })
    const secretOf = (name: string) => `sk_test_${name.padEnd(32, '0')}`
    const keys = [
      made('top', 'top'),
      made('topNext', 'top'),
      made('child', 'child', 'top'),
      made('childNext', 'child', 'top'),
      made('deeper', 'deeper', 'child'),
      made('deepest', 'deepest', 'deeper'),
      made('other', 'other'),
    ]
    const authenticator = createApiKeyAuthenticator({
      reader: readerOf(keys),
      environment: 'test',
      deriveProofKey: () => new Uint8Array(32),
      nowMs: () => 0,
    })
    const rates = keys.map(({ keyId }) => {
      const caller = authenticator.authenticate(secretOf(keyId))
      return caller.ok ? caller.value.rateLineage : caller.fault.code
    })
    expect(rates).toEqual([...Array(6).fill('top'), 'other'])
  })

  test('eviction wipes: the cache never holds more keys than its bound', () => {
    const derived: Uint8Array[] = []
    const secrets = Array.from({ length: 5 }, (_, i) => `sk_test_${String(i).repeat(32)}`)
    const authenticator = createApiKeyAuthenticator({
      reader: { byHash: (secretHash) => ({ ...KEY, secretHash }), byId: () => null },
      environment: 'test',
      deriveProofKey: () => {
        const proofKey = new Uint8Array(32).fill(9)
        derived.push(proofKey)
        return proofKey
      },
      nowMs: () => 0,
      cachedKeysMax: 2,
    })
    for (const secret of secrets) authenticator.authenticate(secret)
    expect(derived.filter((proofKey) => proofKey[0] === 9)).toHaveLength(2)
  })
})
