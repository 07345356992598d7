import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { NO_AUTHORIZERS } from '../../src/custody/authorizers/authorizer-set.js'
import { subjectOfId } from '../../src/custody/authorizers/freeze-statement.js'
import type { ShareStore } from '../../src/custody/domain-keys/share-store.js'
import type { EvidenceLog } from '../../src/custody/evidence/evidence-log.js'
import { createPersons } from '../../src/custody/members/persons.js'
import { grantedOf } from '../../src/domain/grant-terms.js'
import { type KeyId, ulidBytes } from '../../src/domain/ids.js'
import { INITIAL_POLICY } from '../../src/domain/key-policy.js'
import type { Authorizer } from '../../src/identity-provider/vault/authorizer.js'
import { createFreezes } from '../../src/identity-provider/vault/freezes.js'
import { createGrants } from '../../src/identity-provider/vault/grants.js'
import {
  type LedgerStore,
  openLedgerStore,
} from '../../src/identity-provider/vault/ledger-store.js'
import { createRecordedChanges } from '../../src/identity-provider/vault/recorded-changes.js'
import { Refusal } from '../../src/quorum-protocol/refusal.js'
import { sha256 } from '../../src/quorum-protocol/tagged.js'
import type { GrantUpdate } from '../../src/service-custody/co-signer.js'
import { KEY_ID, USER_ID, WALLET_ID } from '../actors/wallet-fixtures.js'
import { grantAsked } from '../custody/grants.js'

const HOLDER = { personId: USER_ID, accountId: USER_ID }
const SUCCESSOR = 'key_00000000000000000000000002' as KeyId
const OWNER_HASH = sha256(Buffer.from(USER_ID))

let home: string
let ledger: LedgerStore
/** Resolves when the person has confirmed what was asked. */
let confirming: Promise<void>
/** Whether the person still has a place in the account, and the authorizer that confirmed. */
let isOwner: boolean
let isStanding: boolean

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'countersign-ledger-'))
  ledger = openLedgerStore(home, { length: 0 })
  confirming = Promise.resolve()
  isOwner = true
  isStanding = true
})
afterEach(async () => {
  await ledger.close()
  rmSync(home, { recursive: true })
})

/** @returns what lets the person confirm */
function holdConfirmation(): () => void {
  let confirm = () => {}
  confirming = new Promise((resolve) => {
    confirm = resolve
  })
  return () => confirm()
}

/** A user without members confirms whatever is asked, in their own time. */
function domain() {
  const wallet = { proofs: {}, certificate: { ownerHash: OWNER_HASH } }
  const dataKeys = { seal: (bytes: Uint8Array) => Buffer.from(bytes), open: Buffer.from }
  const shares = { get: () => wallet, dataKeys } as unknown as ShareStore
  const authorizer: Authorizer = {
    announcement: '',
    confirm: async () => {
      await confirming
      return { proof: Buffer.of(1), authorizerId: null, signCount: 0 }
    },
    requireStanding: () => {
      if (!isStanding) throw new Refusal('NOT_CONFIRMED', 'the authorizer has ended')
    },
    spend: async () => {},
  }
  const evidence = { append: async () => {} } as unknown as EvidenceLog
  const all = createPersons({ members: () => null }, { setOf: () => NO_AUTHORIZERS })
  const persons: typeof all = { ...all, may: (...of) => isOwner && all.may(...of) }
  const changes = createRecordedChanges(ledger, evidence)
  return {
    grants: createGrants(ledger, shares, authorizer, persons, changes),
    freezes: createFreezes(ledger, shares, authorizer, persons, changes, () => null),
  }
}

function updateOf(change: Partial<GrantUpdate> = {}): GrantUpdate {
  return {
    ...grantedOf(INITIAL_POLICY),
    ...{ keyId: KEY_ID, rotatedFrom: null, walletId: WALLET_ID, userId: USER_ID },
    ...{ permission: 'trade', allowedChains: [8453], proofKey: Buffer.alloc(32, 1) },
    ...{ expiresAt: null, revoked: false, consoleToken: 'jwt', effect: 'enlarges' },
    ...{ dailyLimitMicros: 300_000_000n, authorization: null },
    ...change,
  }
}

/** As a service asks that says nothing of the version which the change was made for. */
const requestOf = (change: Partial<GrantUpdate> = {}) => grantAsked(updateOf(change), 0, null)
const ROTATION = { keyId: SUCCESSOR, rotatedFrom: KEY_ID, proofKey: Buffer.alloc(32, 2) }

describe('a key that was revoked', () => {
  async function revoked() {
    const { grants } = domain()
    await grants.put(requestOf(), HOLDER)
    await grants.put(requestOf({ revoked: true, proofKey: null }), null)
    return grants
  }

  test('has no successor, though its user asks for one', async () => {
    const grants = await revoked()
    const rotating = grants.put(requestOf(ROTATION), HOLDER)
    await expect(rotating).rejects.toMatchObject({ code: 'UNKNOWN_KEY' })
    expect(grants.view(ulidBytes(SUCCESSOR))).toBeNull()
    expect(grants.proofKey(ulidBytes(SUCCESSOR))).toBeNull()
    expect(grants.view(ulidBytes(KEY_ID))?.grant.liveKeys).toEqual([])
  })

  test('does not come back, though its user asks for it', async () => {
    const grants = await revoked()
    const again = grants.put(requestOf(), HOLDER)
    await expect(again).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(grants.view(ulidBytes(KEY_ID))?.key.revoked).toBe(true)
    expect(grants.proofKey(ulidBytes(KEY_ID))).toBeNull()
  })

  test('does not come back as the successor of another', async () => {
    const grants = await revoked()
    await grants.put(requestOf({ keyId: SUCCESSOR }), HOLDER)
    const back = requestOf({ keyId: KEY_ID, rotatedFrom: SUCCESSOR })
    await expect(grants.put(back, HOLDER)).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(grants.view(ulidBytes(KEY_ID))?.key.revoked).toBe(true)
  })

  test('is not confirmed as larger where it is revoked meanwhile', async () => {
    const { grants } = domain()
    await grants.put(requestOf(), HOLDER)
    const confirm = holdConfirmation()
    const enlarging = grants.put(requestOf({ dailyLimitMicros: 900_000_000n }), HOLDER)
    await grants.put(requestOf({ revoked: true, proofKey: null }), null)
    confirm()
    await expect(enlarging).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(grants.view(ulidBytes(KEY_ID))?.key.revoked).toBe(true)
  })
})

test('what is taken from a successor is taken from its predecessor, which was in use', async () => {
  const { grants } = domain()
  await grants.put(requestOf(), HOLDER)
  await grants.put(requestOf(ROTATION), HOLDER)
  const predecessor = ulidBytes(KEY_ID)
  expect(grants.view(predecessor)?.grant).toMatchObject({ permission: 'trade', version: 2 })
  const narrowed = { keyId: SUCCESSOR, permission: 'read', proofKey: null } as const
  await grants.put(requestOf(narrowed), null)
  expect(grants.view(predecessor)?.grant).toMatchObject({ permission: 'read', version: 3 })
})

test('a key with a successor gains nothing, though its user confirms it', async () => {
  const { grants } = domain()
  await grants.put(requestOf(), HOLDER)
  await grants.put(requestOf(ROTATION), HOLDER)
  const before = grants.view(ulidBytes(SUCCESSOR))?.grant
  const enlarging = grants.put(requestOf({ dailyLimitMicros: 900_000_000n }), HOLDER)
  await expect(enlarging).rejects.toMatchObject({ code: 'NOT_GRANTED' })
  expect(grants.view(ulidBytes(SUCCESSOR))?.grant).toEqual(before)
})

test.each([1, 3])(
  'a change that was made for version %i is not one of version 2',
  async (version) => {
    const { grants } = domain()
    await grants.put(requestOf(), HOLDER)
    await grants.put(requestOf({ dailyLimitMicros: 200_000_000n, proofKey: null }), null)
    const request = (basedOn: number) =>
      grantAsked(updateOf({ dailyLimitMicros: 900_000_000n }), 0, null, basedOn)
    await expect(grants.put(request(version), HOLDER)).rejects.toMatchObject({
      code: 'STALE_GRANT',
    })
    expect(await grants.put(request(2), HOLDER)).toMatchObject({ version: 3 })
  },
)

const LEFT: Readonly<Record<string, () => void>> = {
  'whose authorizer was removed': () => {
    isStanding = false
  },
  'who left the account': () => {
    isOwner = false
  },
}

describe.each(Object.entries(LEFT))('one %s while they confirmed', (_, leave) => {
  test('enlarges nothing', async () => {
    const { grants } = domain()
    await grants.put(requestOf(), HOLDER)
    const before = grants.view(ulidBytes(KEY_ID))?.grant
    const confirm = holdConfirmation()
    const enlarging = grants.put(requestOf({ dailyLimitMicros: 900_000_000n }), HOLDER)
    leave()
    confirm()
    await expect(enlarging).rejects.toMatchObject({
      code: expect.stringMatching(/NOT_CONFIRMED|NOT_GRANTED/),
    })
    expect(grants.view(ulidBytes(KEY_ID))?.grant).toEqual(before)
  })

  test('lifts no freeze', async () => {
    const { freezes } = domain()
    const asked = { scope: 'user', subject: OWNER_HASH, userId: USER_ID } as const
    const frozen = await freezes.freeze(asked)
    const confirm = holdConfirmation()
    const lifting = freezes.unfreeze(
      { ...asked, confirmation: Buffer.of(1), confirmBeforeMs: 0, sequence: null },
      HOLDER,
    )
    leave()
    confirm()
    await expect(lifting).rejects.toMatchObject({
      code: expect.stringMatching(/NOT_CONFIRMED|NOT_GRANTED/),
    })
    expect(freezes.row(asked)).toEqual(frozen)
  })
})

describe('a freeze of a user', () => {
  test.each([
    ['another account', { personId: USER_ID, accountId: 'user_00000000000000000000000009' }],
    ['another person', { personId: 'user_00000000000000000000000009', accountId: USER_ID }],
  ])('is not lifted by one signed in to %s', async (_, by) => {
    const { freezes } = domain()
    const asked = { scope: 'user', subject: OWNER_HASH, userId: USER_ID } as const
    const frozen = await freezes.freeze(asked)
    const lifting = freezes.unfreeze(
      { ...asked, confirmation: Buffer.of(1), confirmBeforeMs: 0, sequence: null },
      by,
    )
    await expect(lifting).rejects.toMatchObject({ code: 'NOT_GRANTED' })
    expect(freezes.row(asked)).toEqual(frozen)
  })
})

describe('a freeze that comes while another is lifted', () => {
  const SUBJECTS = [
    { scope: 'user', subject: OWNER_HASH },
    { scope: 'wallet', subject: subjectOfId(ulidBytes(WALLET_ID)) },
    { scope: 'key', subject: subjectOfId(ulidBytes(KEY_ID)) },
  ] as const

  test.each(SUBJECTS)('stands, and the lifting comes to nothing: of a $scope', async (subject) => {
    const { grants, freezes } = domain()
    await grants.put(requestOf(), HOLDER)
    const asked = { ...subject, userId: USER_ID }
    const first = await freezes.freeze(asked)
    const confirm = holdConfirmation()
    // An earlier build of the service does not say which sequence the lifting is for.
    const lifting = freezes.unfreeze(
      { ...asked, confirmation: Buffer.of(1), confirmBeforeMs: 0, sequence: null },
      HOLDER,
    )
    const again = await freezes.freeze(asked)
    expect(again).toEqual({ sequence: first.sequence + 1, sinceMs: first.sinceMs })
    confirm()
    await expect(lifting).rejects.toMatchObject({ code: 'STALE_GRANT' })
    expect(freezes.row(subject)).toEqual(again)
    const call = () => freezes.requireThawed(OWNER_HASH, ulidBytes(WALLET_ID), ulidBytes(KEY_ID))
    expect(call).toThrow(subject.scope)
  })
})
