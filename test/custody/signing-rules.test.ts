import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { grantedOf } from '../../src/domain/grant-terms.js'
import { INITIAL_POLICY } from '../../src/domain/key-policy.js'
import type { Ancestor } from '../../src/identity-provider/vault/ancestors.js'
import type { Grant, GrantedKey } from '../../src/identity-provider/vault/granted.js'
import { entryOf } from '../../src/identity-provider/vault/nonce-ledger.js'
import {
  checkGrant,
  checkServicePayload,
  checkUserPayload,
  endsDelegation,
  isReplacement,
} from '../../src/identity-provider/vault/policy.js'
import {
  decodeIntent,
  encodeIntent,
  NO_ID,
  NO_REFERENCE,
} from '../../src/quorum-protocol/intent.js'
import { ROUTER_DEADLINE_AHEAD_SECONDS_MAX } from '../../src/quorum-protocol/limits.js'
import { decodePayload, encodePayload } from '../../src/quorum-protocol/payload.js'
import type { SignPayload } from '../../src/quorum-protocol/sign-payload.js'
import { fromHex } from '../../src/quorum-protocol/transaction.js'
import { DELEGATE, ROUTER, routerIntent, STRANGER, transfer } from './harness.js'

/** The rules of the user side one by one, with a key's proof and its grant. */
const NOW = Date.UTC(2026, 0, 5)
const NOW_SECONDS = NOW / 1_000
const SELF = '0x5555555555555555555555555555555555555555'
const [WALLET, KEY, GRANT] = [randomBytes(16), randomBytes(16), randomBytes(16)]
const ZERO = '0x0000000000000000000000000000000000000000'
const LISTED = {
  ...{ chainId: 8453, address: DELEGATE, nonce: 0, yParity: 0 as const },
  ...{ r: `0x${'11'.repeat(32)}` as const, s: `0x${'11'.repeat(32)}` as const },
}
const TYPE_4 = { authorizationList: [LISTED] }

function decoded(payload: SignPayload) {
  const { type, bytes } = encodePayload(payload)
  return decodePayload(type, bytes)
}

function intentOf(said: { keyId?: Uint8Array; isProven?: boolean } = {}) {
  const { type, bytes } = encodePayload(transfer(0))
  return decodeIntent(
    encodeIntent(
      {
        ...{ type, walletId: WALLET, keyId: said.keyId ?? KEY, grantId: GRANT, grantVersion: 3 },
        ...{ epoch: 1, seq: 0, expiresAtMs: NOW + 1, requestId: NO_ID, replaces: NO_REFERENCE },
        ...{ approval: null, payload: bytes },
      },
      said.isProven === false ? null : randomBytes(32),
    ),
  )
}

/** @returns the code of the refusal, or `passes` */
function verdictOf(check: () => void): string {
  try {
    check()
    return 'passes'
  } catch (error) {
    return (error as { readonly code: string }).code
  }
}

function intentFor(account: typeof SELF | typeof STRANGER, deadline: number): SignPayload {
  const intent = { ...routerIntent(account), deadline }
  return { type: 'router-intent', chainId: 8453, verifyingContract: ROUTER, intent }
}

describe('the wallet of a user, though a key asks for it,', () => {
  const last = NOW_SECONDS + ROUTER_DEADLINE_AHEAD_SECONDS_MAX
  const cases: Readonly<Record<string, readonly [SignPayload, string]>> = {
    'a transfer': [transfer(0), 'passes'],
    'a type-4 transaction to a stranger': [transfer(0, TYPE_4), 'PAYLOAD_NOT_ALLOWED'],
    'a type-4 transaction to itself': [
      transfer(0, { ...TYPE_4, to: SELF, value: 0n }),
      'PAYLOAD_NOT_ALLOWED',
    ],
    'a delegation': [
      { type: 'authorization', chainId: 8453, nonce: 0, delegate: DELEGATE },
      'passes',
    ],
    'a Router intent of its own': [intentFor(SELF, last), 'passes'],
    'a Router intent of another account': [intentFor(STRANGER, last), 'PAYLOAD_NOT_ALLOWED'],
    'a Router intent that is good for too long': [intentFor(SELF, last + 1), 'EXPIRED'],
    'a Router intent of this second': [intentFor(SELF, NOW_SECONDS), 'passes'],
    'a Router intent of the second before': [intentFor(SELF, NOW_SECONDS - 1), 'EXPIRED'],
  }

  test.each(Object.entries(cases))('with %s', (_, [payload, verdict]) => {
    expect(verdictOf(() => checkUserPayload(decoded(payload), fromHex(SELF), NOW))).toBe(verdict)
  })
})

describe('a gas wallet', () => {
  const pins = {
    ...{ router: fromHex(ROUTER), delegate: fromHex(DELEGATE) },
    ...{ maxFeePerGasWei: 1n, maxGasLimit: 1n },
  }
  const noKey = { keyId: NO_ID, isProven: false }
  const toRouter = { to: ROUTER, value: 0n, data: '0x12' } as const
  const cases: Readonly<Record<string, readonly [SignPayload, string]>> = {
    'calls the Router': [transfer(0, toRouter), 'passes'],
    'calls the Router and carries authorizations': [
      transfer(0, { ...toRouter, ...TYPE_4 }),
      'passes',
    ],
    'carries authorizations alone': [transfer(0, { ...TYPE_4, value: 0n }), 'passes'],
    'moves no value to the Router': [
      transfer(0, { ...toRouter, value: 1n }),
      'PAYLOAD_NOT_ALLOWED',
    ],
    'moves no value beside authorizations': [
      transfer(0, { ...TYPE_4, value: 1n }),
      'PAYLOAD_NOT_ALLOWED',
    ],
    'calls nobody else': [transfer(0, { value: 0n }), 'PAYLOAD_NOT_ALLOWED'],
    'calls nobody else beside authorizations': [
      transfer(0, { ...TYPE_4, value: 0n, data: '0x12' }),
      'PAYLOAD_NOT_ALLOWED',
    ],
    'delegates itself to nobody': [
      { type: 'authorization', chainId: 8453, nonce: 0, delegate: DELEGATE },
      'PAYLOAD_NOT_ALLOWED',
    ],
  }

  test.each(Object.entries(cases))('%s', (_, [payload, verdict]) => {
    const check = (withPins: typeof pins | undefined) => () =>
      checkServicePayload(intentOf(noKey), decoded(payload), withPins)
    expect(verdictOf(check(pins))).toBe(verdict)
  })

  test('calls no Router where the chain has none, and asks with no key', () => {
    const payload = decoded(transfer(0, toRouter))
    const without = { ...pins, router: null }
    expect(verdictOf(() => checkServicePayload(intentOf(noKey), payload, without))).toBe(
      'PAYLOAD_NOT_ALLOWED',
    )
    expect(verdictOf(() => checkServicePayload(intentOf(), payload, pins))).toBe(
      'PAYLOAD_NOT_ALLOWED',
    )
  })
})

describe('a grant', () => {
  const terms = {
    ...grantedOf(INITIAL_POLICY),
    permission: 'trade',
    allowedChains: [8453],
  } as const
  const grant: Grant = {
    ...terms,
    ...{ walletId: WALLET, userId: 'ada', version: 3, parentId: null, liveKeys: [KEY] },
  }
  const key: GrantedKey = {
    ...{ grantId: GRANT, sealedProofKey: null, expiresAtMs: null, revoked: false, ceiling: null },
  }
  const maker = (change: Partial<Grant>, endsAtMs: number | null = null): Ancestor => ({
    ...{ grantId: randomBytes(16), grant: { ...grant, ...change }, endsAtMs },
  })
  type Case = readonly [Partial<GrantedKey>, Partial<Grant>, readonly Ancestor[], string]
  const cases: Readonly<Record<string, Case>> = {
    'of its key and wallet': [{}, {}, [], 'passes'],
    'of a revoked key': [{ revoked: true }, {}, [], 'NOT_GRANTED'],
    'of a key that ends now': [{ expiresAtMs: NOW }, {}, [], 'NOT_GRANTED'],
    'of a key that ends next': [{ expiresAtMs: NOW + 1 }, {}, [], 'passes'],
    'of another wallet': [{}, { walletId: randomBytes(16) }, [], 'NOT_GRANTED'],
    'of another lineage': [{ grantId: randomBytes(16) }, {}, [], 'STALE_GRANT'],
    'that was narrowed since': [{}, { version: 4 }, [], 'STALE_GRANT'],
    'of a version that is to come': [{}, { version: 2 }, [], 'STALE_GRANT'],
    'to read': [{}, { permission: 'read' }, [], 'NOT_GRANTED'],
    'to trade, of a key with a successor that may read': [
      { ceiling: { ...terms, permission: 'read' } },
      {},
      [],
      'NOT_GRANTED',
    ],
    'of other chains': [{}, { allowedChains: [1] }, [], 'NOT_GRANTED'],
    'of more chains than its key with a successor had': [
      { ceiling: { ...terms, allowedChains: [1] } },
      { allowedChains: [1, 8453] },
      [],
      'NOT_GRANTED',
    ],
    'of chains that both have': [{ ceiling: terms }, {}, [], 'passes'],
    'below a maker': [{}, {}, [maker({})], 'passes'],
    'below a maker that has ended': [{}, {}, [maker({}, NOW)], 'NOT_GRANTED'],
    'below a maker that ends next': [{}, {}, [maker({}, NOW + 1)], 'passes'],
    'below a maker that may read': [{}, {}, [maker({ permission: 'read' })], 'NOT_GRANTED'],
    'below a maker of other chains': [{}, {}, [maker({ allowedChains: [1] })], 'NOT_GRANTED'],
    'below the maker of a maker that has ended': [
      {},
      {},
      [maker({}), maker({}, NOW)],
      'NOT_GRANTED',
    ],
  }

  test.each(Object.entries(cases))('%s', (_, [ofKey, ofGrant, ancestors, verdict]) => {
    const view = { key: { ...key, ...ofKey }, grant: { ...grant, ...ofGrant }, ancestors }
    const check = () => checkGrant(intentOf(), decoded(transfer(0)), view, NOW)
    expect(verdictOf(check)).toBe(verdict)
  })

  test('that nobody gave', () => {
    const check = () => checkGrant(intentOf(), decoded(transfer(0)), null, NOW)
    expect(verdictOf(check)).toBe('UNKNOWN_KEY')
  })
})

describe('without a key', () => {
  const ends = decoded({ type: 'authorization', chainId: 8453, nonce: 0, delegate: ZERO })
  const held = entryOf(randomBytes(32), decoded(transfer(0)), NO_ID, null)
  const nobody = { keyId: NO_ID, isProven: false }

  test('a delegation is ended only at a free nonce, and none is made', () => {
    expect(endsDelegation(intentOf(nobody), ends, null)).toBe(true)
    expect(endsDelegation(intentOf(nobody), ends, held)).toBe(false)
    expect(endsDelegation(intentOf({ keyId: KEY, isProven: false }), ends, null)).toBe(false)
    expect(endsDelegation(intentOf({ keyId: NO_ID }), ends, null)).toBe(false)
    const made = decoded({ type: 'authorization', chainId: 8453, nonce: 0, delegate: DELEGATE })
    expect(endsDelegation(intentOf(nobody), made, null)).toBe(false)
    expect(endsDelegation(intentOf(nobody), decoded(transfer(0)), null)).toBe(false)
  })

  test('what is frozen goes on only in the place of what was approved', () => {
    expect(isReplacement('fee-bump', held, false)).toBe(true)
    expect(isReplacement('cancel', held, true)).toBe(true)
    expect(isReplacement('cancel', null, true)).toBe(false)
    expect(isReplacement('repeat', held, false)).toBe(false)
    expect(isReplacement('new', held, false)).toBe(false)
  })
})
