import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openAuthorizerStore } from '../../src/custody/authorizers/authorizer-store.js'
import { authorizerIdOf, certificateMessage } from '../../src/custody/authorizers/certificate.js'
import { encodeProof } from '../../src/custody/authorizers/proof.js'
import { type EvidenceLog, openEvidenceLog } from '../../src/custody/evidence/evidence-log.js'
import { readEvidence } from '../../src/custody/evidence/read-evidence.js'
import { INVITATION_MS } from '../../src/custody/members/member-set.js'
import {
  encodeMemberStatement,
  type MemberStatement,
  memberMessage,
} from '../../src/custody/members/member-statement.js'
import { createPersons } from '../../src/custody/members/persons.js'
import type { Role } from '../../src/domain/role.js'
import { createAuthorizerCeremonies } from '../../src/identity-provider/authorizers/ceremonies.js'
import { createRecordedAuthorizers } from '../../src/identity-provider/authorizers/recorded-authorizers.js'
import { createAuthorizer } from '../../src/identity-provider/vault/authorizer.js'
import { openLedgerStore } from '../../src/identity-provider/vault/ledger-store.js'
import { createMembers } from '../../src/identity-provider/vault/members.js'
import { settleOwed } from '../../src/identity-provider/vault/owed-evidence.js'
import { createRecordedChanges } from '../../src/identity-provider/vault/recorded-changes.js'
import type { P256Signer } from '../../src/quorum-protocol/p256.js'
import type { Registry } from '../../src/quorum-protocol/registry.js'
import type { RegistryHolder } from '../../src/quorum-protocol/registry-holder.js'
import { sha256 } from '../../src/quorum-protocol/tagged.js'
import { strangerKey } from './hostile.js'

/** Of a live instance: nobody but people confirm. */
export const LIVE = { webauthn: null, softwareAuthorizer: null } as unknown as Registry
const REGISTRY = { current: LIVE } as unknown as RegistryHolder

export type World = Awaited<ReturnType<typeof openWorld>>

/** Of the persons of one test. */
const firstKeys = new Map<string, P256Signer>()

export function newHome(): string {
  firstKeys.clear()
  return mkdtempSync(join(tmpdir(), 'cs-members-'))
}

export function removeHome(home: string): void {
  rmSync(home, { recursive: true, force: true })
}

/** As a backup does, of stores that are closed. */
export function copyStores(
  from: string,
  to: string,
  what: readonly ('ledger' | 'evidence')[],
): void {
  for (const part of what) cpSync(join(from, part), join(to, part), { recursive: true })
}

function openStores(home: string) {
  const log = openEvidenceLog(join(home, 'evidence'), 0, () => {})
  const ledger = openLedgerStore(join(home, 'ledger'), log)
  const store = openAuthorizerStore(join(home, 'ledger'))
  async function close(): Promise<void> {
    await store.close()
    await ledger.close()
    await log.close()
  }
  return { log, ledger, store, close }
}

/** The user side's stores, and what of it rests on members. @param append default: the log's own */
export async function openWorld(home: string, append?: EvidenceLog['append']) {
  const stores = openStores(home)
  const { log, ledger, store } = stores
  await settleOwed({ ledger, authorizers: store }, log)
  const evidence = { append: append ?? log.append }
  const changes = createRecordedChanges(ledger, evidence)
  const persons = createPersons(ledger, store)
  const authorizer = createAuthorizer(store, persons, REGISTRY, null)
  const members = createMembers(ledger, authorizer, changes)
  const recorded = createRecordedAuthorizers(store, log)
  const signer = strangerKey()
  const ceremonies = createAuthorizerCeremonies({
    ...{ store, recorded, persons, registry: REGISTRY, signer },
  })

  /** Their first, on the sign-in alone, where they have none; or another, by the first. */
  async function addKey(personId: string, by?: P256Signer): Promise<P256Signer> {
    const first = firstKeys.get(personId)
    if (by === undefined && first !== undefined && ceremonies.list(personId).length > 0) {
      return first
    }
    const key = strangerKey()
    if (by === undefined) firstKeys.set(personId, key)
    const { ceremonyId, certificate } = ceremonies.beginKey(personId, 'key', key.publicKey)
    const possession = await key.sign(certificateMessage(certificate))
    const asked = await ceremonies.finish(personId, ceremonyId, possession)
    if (asked === null || by === undefined) return key
    const signature = await by.sign(certificateMessage(asked.certificate))
    const proof = { kind: 'p256', authorizerId: idOf(by), signature } as const
    await ceremonies.approve(personId, asked.ceremonyId, proof)
    return key
  }

  function statement(change: Partial<MemberStatement> & Asked): MemberStatement {
    const { accountId, personId } = change
    const nowMs = Date.now()
    const isInvitation = change.action === 'invite'
    return {
      role: 'viewer',
      sequence: members.setOf(accountId).sequence + 1,
      email: `${personId}@example.test`,
      byId: accountId,
      acceptBeforeMs: isInvitation ? nowMs + INVITATION_MS - 60_000 : 0,
      confirmBeforeMs: nowMs + 300_000,
      ...change,
    }
  }

  async function change(asked: Partial<MemberStatement> & Asked, key: P256Signer | null) {
    const said = statement(asked)
    return members.change(said, key === null ? null : await proofOver(said, key))
  }

  /** Invited by the account's own person, and come. */
  async function join(accountId: string, personId: string, role: Role, key: P256Signer) {
    await change({ action: 'invite', accountId, personId, role }, key)
    const own = await addKey(personId)
    await change({ action: 'accept', accountId, personId, role, byId: personId }, own)
  }

  function memberEvidence() {
    const { members: entries, problems } = readEvidence('log', log.entries())
    if (problems.length > 0) throw new Error(problems.join('; '))
    return entries.map(({ value }) => value)
  }

  return {
    ...stores,
    ...{ signer, members, persons, authorizer, addKey, statement, change, join, memberEvidence },
  }
}

type Asked = Pick<MemberStatement, 'action' | 'accountId' | 'personId'>

export async function proofOver(statement: MemberStatement, key: P256Signer): Promise<Buffer> {
  const signature = await key.sign(memberMessage(encodeMemberStatement(statement)))
  return encodeProof({ kind: 'p256', authorizerId: idOf(key), signature })
}

export function idOf({ publicKey }: P256Signer): Buffer {
  return authorizerIdOf(Buffer.alloc(0), publicKey)
}

export function ownerHashOf(id: string): Buffer {
  return sha256(Buffer.from(id))
}
