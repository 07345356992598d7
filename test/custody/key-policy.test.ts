import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createKeyInput, apiKey as keyRecord, patchKeyInput } from '../../src/api/console.js'
import { describeGrant } from '../../src/custody/authorizers/describe-grant.js'
import {
  encodeGrantStatement,
  type GrantStatement,
  readGrantStatement,
} from '../../src/custody/authorizers/grant-statement.js'
import { CHAIN_IDS } from '../../src/domain/chains.js'
import {
  canonicalGrant,
  commonTerms,
  enlargements,
  GRANTED_FIELDS,
  type GrantTerms,
  grantedOf,
  grantedPolicy,
  LEAST_GRANT,
} from '../../src/domain/grant-terms.js'
import type { KeyId, SubWalletId } from '../../src/domain/ids.js'
import { INITIAL_POLICY, KEY_POLICY, KEY_POLICY_FIELDS } from '../../src/domain/key-policy.js'
import { readGrant, storedGrant } from '../../src/identity-provider/vault/granted.js'
import { GRANTS } from '../../src/quorum-protocol/methods/grants.js'
import { POLICY_CODECS } from '../../src/quorum-protocol/policy-codecs.js'
import { grantRequest } from '../../src/service-custody/grant-request.js'
import { POLICY } from '../policy/random-policies.js'

/** Values of every form that a field of the policy may have. */
const VALUES = {
  choice: (options: readonly string[]) => fc.constantFrom(...options),
  flag: () => fc.boolean(),
  'usd-cap': () => fc.option(fc.bigInt(0n, 10n ** 21n - 1n), { nil: null }),
  'call-policy': () => fc.option(POLICY, { nil: null }),
  chains: () => fc.subarray([...CHAIN_IDS]).map((chains) => chains.sort((a, b) => a - b)),
}

const policies = fc
  .tuple(
    ...GRANTED_FIELDS.map(({ name }) => {
      const { form } = KEY_POLICY[name]
      return form.kind === 'choice' ? VALUES.choice(form.options) : VALUES[form.kind]()
    }),
  )
  .map((values) => {
    const byName = new Map<string, unknown>(GRANTED_FIELDS.map(({ name }, i) => [name, values[i]]))
    return grantedPolicy(({ name }) => byName.get(name))
  })

const terms: fc.Arbitrary<GrantTerms> = fc
  .tuple(policies, fc.option(fc.integer({ min: 1, max: 2 ** 48 }), { nil: null }))
  .map(([policy, expiresAtMs]) => ({ ...policy, expiresAtMs }))

function bytes(of: number, length: number): Uint8Array {
  return new Uint8Array(length).fill(of)
}

const STATEMENT: GrantStatement = {
  ...canonicalGrant(INITIAL_POLICY),
  keyId: bytes(1, 16),
  grantId: bytes(2, 16),
  version: 3,
  walletId: bytes(4, 16),
  ownerHash: bytes(5, 32),
  permission: 'trade',
  expiresAtMs: null,
  revoked: false,
  dailyLimitMicros: 100_000_000n,
  monthlyLimitMicros: null,
  unpricedAssets: 'allow',
  rotatedFrom: null,
  parentId: null,
  proofKeyDigest: bytes(6, 32),
  confirmBeforeMs: 1_700_000_000_000,
  allowedChains: [1, 8453],
}

/** As written by the first version that had grants: proofs in users' evidence are over these. */
const FIRST_FORM = {
  trade:
    '4157473101010101010101010101010101010101020202020202020202020202020202020000000304040404040404040404040404040404050505050505050505050505050505050505050505050505050505050505050502000000000000000000010000000000000000000000000000000000000000000000000000000005f5e100000000000000000000000000000000000000000000000000000000000000000000020000000000000000000000000000000006060606060606060606060606060606060606060606060606060606060606060000018bcfe56800020000000100002105',
  revoked:
    '4157473101010101010101010101010101010101020202020202020202020202020202020000000304040404040404040404040404040404050505050505050505050505050505050505050505050505050505050505050501000001a3185c500001010000000000000000000000000000000000000000000000000000000005f5e100010000000000000000000000000000000000000000000000000000000000000000010707070707070707070707070707070700000000000000000000000000000000000000000000000000000000000000000000018bcfe5680000',
}

describe('the bytes of a grant', () => {
  test('are those that were signed from the first version on', () => {
    const revoked: GrantStatement = {
      ...STATEMENT,
      permission: 'read',
      revoked: true,
      expiresAtMs: 1_800_000_000_000,
      rotatedFrom: bytes(7, 16),
      proofKeyDigest: null,
      unpricedAssets: 'deny',
      monthlyLimitMicros: 0n,
      allowedChains: [],
    }
    for (const [hex, statement] of [
      [FIRST_FORM.trade, STATEMENT],
      [FIRST_FORM.revoked, revoked],
    ] as const) {
      const first = Buffer.from(hex, 'hex')
      const read = readGrantStatement(Buffer.concat([first, Buffer.of(9)]))
      expect(read.statement).toMatchObject(comparable(statement))
      expect(Buffer.from(read.encoded).equals(first)).toBe(true)
      expect(Buffer.from(read.rest)).toEqual(Buffer.of(9))
      // What says nothing that came later is written as it always was.
      expect(encodeGrantStatement(statement).equals(first)).toBe(true)
    }
  })

  test('say all that the policy says, and one thing only', () => {
    fc.assert(
      fc.property(terms, terms, (one, other) => {
        const encoded = encodeGrantStatement({ ...STATEMENT, ...one })
        expect(readGrantStatement(encoded).statement).toMatchObject(comparable(one))
        const same = encoded.equals(encodeGrantStatement({ ...STATEMENT, ...other }))
        const gives = enlargements(one, other).length + enlargements(other, one).length
        expect(same).toBe(gives === 0)
      }),
    )
  })

  test('of an unknown form are refused', () => {
    const encoded = encodeGrantStatement(STATEMENT)
    for (const head of ['AWG0', 'AWG9', 'AWG ', 'AWGx', 'AWI1']) {
      encoded.write(head, 'latin1')
      expect(() => readGrantStatement(encoded)).toThrow('no grant statement')
    }
  })

  test('with a choice that no field has are refused', () => {
    for (const { name } of GRANTED_FIELDS) {
      const { form } = KEY_POLICY[name]
      if (form.kind !== 'choice') continue
      for (const wrong of ['', 'both', null, undefined, 1, 'constructor']) {
        expect(() => POLICY_CODECS[name].fromPlain(wrong)).toThrow()
      }
    }
  })
})

test('the identity provider gets the fields of a grant in the order that it has always read', () => {
  const keyId = `key_${'0'.repeat(26)}` as KeyId
  const walletId = `sw_${'0'.repeat(26)}` as SubWalletId
  const proofKey = bytes(1, 32)
  const request = grantRequest(
    {
      ...grantedOf(INITIAL_POLICY),
      keyId,
      rotatedFrom: keyId,
      walletId,
      userId: 'user_1',
      permission: 'trade',
      allowedChains: [8453, 1],
      proofKey,
      expiresAt: 7,
      revoked: false,
      consoleToken: null,
      dailyLimitMicros: 2n ** 65n,
      monthlyLimitMicros: null,
      unpricedAssets: 'allow',
      effect: 'enlarges',
      authorization: { version: 2, confirmBeforeMs: 9, proof: null },
    },
    { basedOn: 1, proof: bytes(2, 3) },
  )
  const told = GRANTS['grant-put'].parameters.encode(request)
  const zeros = new Uint8Array(16)
  expect(told.slice(0, 6)).toEqual([zeros, zeros, zeros, 'user_1', 'trade', [8453, 1]])
  expect(told.slice(6, 11)).toEqual([proofKey, 7, false, '', bytes(2, 3)])
  expect(told.slice(11, 16)).toEqual(['36893488147419103232', null, 'allow', 9, 1])
})

describe('what enlarges a grant', () => {
  test('what both allow enlarges neither, and nothing less than it does', () => {
    fc.assert(
      fc.property(terms, terms, (one, other) => {
        const both = commonTerms(one, other)
        expect(enlargements(one, both)).toEqual([])
        expect(enlargements(other, both)).toEqual([])
        if (enlargements(one, other).length === 0) expect(both).toEqual(other)
      }),
    )
  })

  test('the least grant enlarges none, and every field of it can be enlarged by itself', () => {
    fc.assert(
      fc.property(terms, (of) => {
        expect(enlargements(of, { ...LEAST_GRANT, expiresAtMs: of.expiresAtMs })).toEqual([])
      }),
    )
    const least = { ...LEAST_GRANT, expiresAtMs: null }
    for (const { name, wire } of GRANTED_FIELDS) {
      const { form } = KEY_POLICY[name]
      const more =
        form.kind === 'flag'
          ? true
          : form.kind === 'choice'
            ? form.options.at(-1)
            : form.kind === 'chains'
              ? [1]
              : null
      const found = enlargements(least, { ...least, [name]: more })
      expect(found, name).toEqual([wire])
    }
  })
})

describe('a field of the policy', () => {
  test('is in requests, answers, the description and the ledger, whichever field it is', () => {
    const words = describeGrant({ ...STATEMENT, ...canonicalGrant(INITIAL_POLICY) })
    const titles = words.map(([title]) => title)
    for (const { name, wire, title, afterwards, grantForm } of KEY_POLICY_FIELDS) {
      expect(Object.keys(createKeyInput.shape), name).toContain(wire)
      expect(Object.keys(keyRecord.shape), name).toContain(wire)
      expect(Object.keys(patchKeyInput.shape).includes(wire), name).toBe(
        afterwards === 'changeable',
      )
      expect(titles.includes(title), name).toBe(grantForm !== null)
    }
  })

  test('comes back from the ledger as it was granted; one that was not there has its initial value', () => {
    const of = { walletId: bytes(1, 16), userId: 'usr_1', version: 2 }
    const tree = { parentId: bytes(2, 16), liveKeys: [bytes(1, 16), bytes(3, 16)] }
    fc.assert(
      fc.property(policies, (policy) => {
        const grant = { ...of, ...tree, ...policy }
        expect(readGrant(storedGrant(grant))).toEqual(grant)
      }),
    )
    const initial = grantedPolicy((field) => field.initial)
    expect(readGrant(of)).toEqual({ ...of, parentId: null, liveKeys: [], ...initial })
  })
})

/** Bytes compare by content, whichever class they have. */
function comparable<T extends object>(of: T): T {
  const entries = Object.entries(of).map(([name, value]) => [
    name,
    value instanceof Uint8Array ? expect.objectContaining({ length: value.length }) : value,
  ])
  return Object.fromEntries(entries) as T
}
