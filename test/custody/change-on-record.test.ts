import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  type AuthorizerStore,
  openAuthorizerStore,
} from '../../src/custody/authorizers/authorizer-store.js'
import {
  authorizerIdOf,
  certificateMessage,
  decodeCertificate,
} from '../../src/custody/authorizers/certificate.js'
import { type EvidenceLog, openEvidenceLog } from '../../src/custody/evidence/evidence-log.js'
import { readEvidence } from '../../src/custody/evidence/read-evidence.js'
import { EVIDENCE_KIND } from '../../src/custody/evidence/stored-evidence.js'
import { createPersons } from '../../src/custody/members/persons.js'
import { createAuthorizerCeremonies } from '../../src/identity-provider/authorizers/ceremonies.js'
import { createRecordedAuthorizers } from '../../src/identity-provider/authorizers/recorded-authorizers.js'
import type { Authorizer } from '../../src/identity-provider/vault/authorizer.js'
import { createFreezes } from '../../src/identity-provider/vault/freezes.js'
import {
  type LedgerStore,
  openLedgerStore,
} from '../../src/identity-provider/vault/ledger-store.js'
import { settleOwed } from '../../src/identity-provider/vault/owed-evidence.js'
import { createRecordedChanges } from '../../src/identity-provider/vault/recorded-changes.js'
import type { P256Signer } from '../../src/quorum-protocol/p256.js'
import type { RegistryHolder } from '../../src/quorum-protocol/registry-holder.js'
import { sha256 } from '../../src/quorum-protocol/tagged.js'
import { strangerKey } from './hostile.js'

const USER_ID = 'user_1'
const USER = { scope: 'user', subject: sha256(Buffer.from(USER_ID)), userId: USER_ID } as const
const LIFT = { ...USER, confirmation: null, confirmBeforeMs: 0, sequence: null }
const CONFIRMED = { proof: randomBytes(64), authorizerId: null, signCount: 0 }

let home: string
let ledger: LedgerStore
let log: EvidenceLog
let store: AuthorizerStore

function open(): void {
  log = openEvidenceLog(join(home, 'log'), 0, () => {})
  ledger = openLedgerStore(join(home, 'ledger'), log)
  store = openAuthorizerStore(join(home, 'ledger'))
}
async function close(): Promise<void> {
  await store.close()
  await ledger.close()
  await log.close()
}
/** What a start does, after the end of a process. */
async function restart(): Promise<void> {
  await close()
  open()
  await settleOwed({ ledger, authorizers: store }, log)
}

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'cs-change-on-record-'))
  open()
})
afterEach(async () => {
  await close()
  rmSync(home, { recursive: true, force: true })
})

const HOLDER = { personId: USER_ID, accountId: USER_ID }

/** Of one user, who confirms whatever there is. */
function freezesWith(evidence: Pick<EvidenceLog, 'append'>) {
  const authorizer: Authorizer = {
    ...{ announcement: '', confirm: async () => CONFIRMED, spend: async () => {} },
    requireStanding: () => {},
  }
  const shares = {} as Parameters<typeof createFreezes>[1]
  const changes = createRecordedChanges(ledger, evidence)
  const persons = createPersons(ledger, store)
  return createFreezes(ledger, shares, authorizer, persons, changes, () => null)
}

/** As where the process ends before the entry is on disk. */
const unwritten = { append: () => Promise.reject(new Error('no entry was written')) }
/** As where it ends after that, before anything else. */
const lastWords = {
  async append(entry: Parameters<EvidenceLog['append']>[0]) {
    await log.append(entry)
    throw new Error('ended')
  },
}

const recorded = () => {
  const { freezes, problems } = readEvidence('log', log.entries())
  expect(problems).toEqual([])
  return freezes.map(({ value: { statement, proof } }) => [statement.sequence, proof.length])
}

function ceremoniesWith({ append }: Pick<EvidenceLog, 'append'>) {
  const recorded = createRecordedAuthorizers(store, { append, length: log.length })
  // Keys alone, which the root has no part in.
  const registry = { current: { webauthn: null } } as unknown as RegistryHolder
  const persons = createPersons(ledger, store)
  return createAuthorizerCeremonies({ store, recorded, persons, registry, signer: strangerKey() })
}

type Evidence = Pick<EvidenceLog, 'append'>

/** @param by an older one of the user's; null: it is the first */
async function added(key: P256Signer, by: P256Signer | null, evidence: Evidence): Promise<void> {
  const ceremonies = ceremoniesWith(evidence)
  const { ceremonyId, certificate } = ceremonies.beginKey(USER_ID, 'key', key.publicKey)
  const possession = await key.sign(certificateMessage(certificate))
  const asked = await ceremonies.finish(USER_ID, ceremonyId, possession)
  if (asked === null || by === null) return
  await ceremonies.approve(USER_ID, asked.ceremonyId, await proofBy(by, asked.certificate))
}

async function removed(key: P256Signer, by: P256Signer, evidence: Evidence): Promise<void> {
  const ceremonies = ceremoniesWith(evidence)
  const { ceremonyId, certificate } = ceremonies.beginRemoval(USER_ID, idOf(key))
  await ceremonies.approve(USER_ID, ceremonyId, await proofBy(by, certificate))
}

async function proofBy(signer: P256Signer, certificate: Uint8Array) {
  const signature = await signer.sign(certificateMessage(certificate))
  return { kind: 'p256', authorizerId: idOf(signer), signature } as const
}

function idOf({ publicKey }: P256Signer): Buffer {
  return authorizerIdOf(Buffer.alloc(0), publicKey)
}

const authorizersOnRecord = () =>
  readEvidence('log', log.entries()).authorizers.map(({ value }) => {
    const { sequence, action } = decodeCertificate(value.certificate)
    return `${sequence} ${action}`
  })

describe('a change that a process ended in the midst of', () => {
  test('is on record from the next start on, with its proof, and in its order', async () => {
    await expect(freezesWith(unwritten).freeze(USER)).rejects.toThrow()
    await expect(freezesWith(unwritten).unfreeze(LIFT, HOLDER)).rejects.toThrow()
    expect(recorded()).toEqual([])
    await restart()
    expect(ledger.freeze('user', USER.subject)).toEqual({ sequence: 2, sinceMs: null })
    expect(recorded()).toEqual([
      [1, 0],
      [2, CONFIRMED.proof.length],
    ])
    await freezesWith(log).freeze(USER)
    expect(recorded()).toHaveLength(3)
  })

  test('is on record once where it was there already', async () => {
    await freezesWith(log).freeze(USER)
    await expect(freezesWith(lastWords).unfreeze(LIFT, HOLDER)).rejects.toThrow()
    await expect(freezesWith(unwritten).freeze(USER)).rejects.toThrow()
    await restart()
    expect(recorded().map(([sequence]) => sequence)).toEqual([1, 2, 3])
    await restart()
    expect(recorded()).toHaveLength(3)
    expect(ledger.owed()).toEqual([])
  })
})

describe('an authorizer whose adding or removing a process ended in the midst of', () => {
  test('is on record from the next start on, in its order', async () => {
    const [first, second] = [strangerKey(), strangerKey()]
    await expect(added(first, null, unwritten)).rejects.toThrow()
    await expect(added(second, first, unwritten)).rejects.toThrow()
    await expect(removed(first, second, unwritten)).rejects.toThrow()
    expect(authorizersOnRecord()).toEqual([])
    await restart()
    expect(store.setOf(USER.subject).sequence).toBe(3)
    expect(authorizersOnRecord()).toEqual(['1 add', '2 add', '3 remove'])
    expect(store.owed()).toEqual([])
  })

  test('is on record once where it was there already', async () => {
    const [first, second] = [strangerKey(), strangerKey()]
    await added(first, null, log)
    expect(store.owed()).toEqual([])
    await expect(added(second, first, lastWords)).rejects.toThrow()
    await restart()
    expect(authorizersOnRecord()).toEqual(['1 add', '2 add'])
    await restart()
    expect(authorizersOnRecord()).toHaveLength(2)
  })

  test('is not on record where its place was taken', async () => {
    await added(strangerKey(), null, log)
    const [entry] = store.entriesAfter(USER.subject, 0)
    if (entry === undefined) throw new Error('no entry')
    const recorded = createRecordedAuthorizers(store, log)
    expect(await recorded.append(USER.subject, 1, entry)).toBe(false)
    await restart()
    expect(authorizersOnRecord()).toEqual(['1 add'])
  })
})

test('what was owed of authorizers and of the ledger is on record by its time', async () => {
  await added(strangerKey(), null, log)
  const [entry] = store.entriesAfter(USER.subject, 0)
  if (entry === undefined) throw new Error('no entry')
  const body = (number: number) => Buffer.of(number)
  for (const timeMs of [10, 30]) {
    const owed = { timeMs, kind: EVIDENCE_KIND.authorizer, body: body(timeMs), after: log.length }
    await store.appendOwed(USER.subject, timeMs, entry, owed)
  }
  await ledger.commit((writer) => {
    // The clock was set back between the two.
    for (const timeMs of [20, 15, 40]) {
      writer.putOwed({ timeMs, kind: EVIDENCE_KIND.grant, body: body(timeMs) })
    }
  }).flushed
  await restart()
  expect([...log.entries()].slice(1).map(({ bytes }) => bytes.at(-1))).toEqual([10, 20, 15, 30, 40])
})

test('changes of one moment are on record in their order, and nothing is owed after', async () => {
  const changes = createRecordedChanges(ledger, log)
  const owners = Array.from({ length: 50 }, (_, n) => sha256(Buffer.from(`user_${n}`)))
  const freezes = freezesWith(log)
  await Promise.all(
    owners.map((subject, n) => freezes.freeze({ scope: 'user', subject, userId: `user_${n}` })),
  )
  await changes.settled()
  const { freezes: read } = readEvidence('log', log.entries())
  expect(read.map(({ value }) => Buffer.from(value.statement.subject))).toEqual(
    owners.map((owner) => Buffer.from(owner)),
  )
  await restart()
  expect(log.length).toBe(50)
})
