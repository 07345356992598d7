import { mkdirSync } from 'node:fs'
import { openLmdb } from '../../disk/lmdb-file.js'
import { isRaised, type Role } from '../../domain/role.js'
import { viewOf } from '../../quorum-protocol/bytes.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import { sha256 } from '../../quorum-protocol/tagged.js'
import { checkMemberChange, foldMember, type Member, type MemberSet } from './member-set.js'
import type { MemberStatement } from './member-statement.js'
import type { KnownMembers } from './persons.js'

/**
 * The members of accounts as the service knows them. It accepts enlargements only with proofs that
 * it verified itself, and removals without: a person who is not a member at the identity provider
 * is not one here.
 */
export interface ServiceMembers extends KnownMembers {
  /** Returns the accounts in which the person is a member or invited. */
  accountsOf(personId: string): readonly AccountMembers[]
  /** Takes effect at once for every thread. Resolves once it is durable. */
  put(row: AccountMembers): Promise<void>
  close(): Promise<void>
}

interface AccountMembers extends MemberSet {
  readonly accountId: string
}

/**
 * @param path LMDB directory of the service's ledger: 20-members, SHA-256 of an account's id →
 * AccountMembers; 21-members-of-persons, SHA-256 of a person's id → hashes of accounts
 */
export function openServiceMembers(path: string): ServiceMembers {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const root = openLmdb({ path, overlappingSync: false, maxDbs: 32 })
  const options = { keyEncoding: 'binary', encoder: { useRecords: false } } as const
  const rows = root.openDB<AccountMembers, Buffer>({ name: '20-members', ...options })
  const places = root.openDB<Buffer[], Buffer>({ name: '21-members-of-persons', ...options })

  function putPlaces(personId: string, change: (accounts: Buffer[]) => Buffer[]): void {
    const key = hashOf(personId)
    const next = change(places.get(key) ?? [])
    void (next.length === 0 ? places.remove(key) : places.put(key, next))
  }

  return {
    members: (ownerHash) => rows.get(viewOf(ownerHash)) ?? null,
    accountsOf: (personId) =>
      (places.get(hashOf(personId)) ?? []).flatMap((key) => rows.get(viewOf(key)) ?? []),
    async put(row) {
      const key = hashOf(row.accountId)
      await root.transaction(() => {
        const before = new Set((rows.get(key)?.members ?? []).map(({ personId }) => personId))
        const after = new Set(row.members.map(({ personId }) => personId))
        for (const personId of new Set([...before, ...after])) {
          const without = (accounts: Buffer[]) => accounts.filter((one) => !key.equals(one))
          putPlaces(personId, (accounts) =>
            after.has(personId) ? [...without(accounts), key] : without(accounts),
          )
        }
        void rows.put(key, row)
      })
    },
    close: () => root.close(),
  }
}

/**
 * Applies a statement to the set that the service knows.
 * @param isProven tells whether the statement's proof verifies here
 */
export async function takeStatement(
  set: MemberSet,
  statement: MemberStatement,
  timeMs: number,
  isProven: (effect: 'enlarges' | 'accepts') => Promise<boolean>,
): Promise<MemberSet> {
  const { sequence } = statement
  // Accepted without proof: each domain may take away by itself.
  if (takesAway(set, statement)) return { ...foldMember(set, statement, timeMs), sequence }
  const effect = sequence === set.sequence + 1 ? effectOf(set, statement, timeMs) : null
  const holds = effect !== null && (effect === 'takes-away' || (await isProven(effect)))
  return holds ? foldMember(set, statement, timeMs) : { ...set, sequence }
}

function takesAway(set: MemberSet, { action, personId, role }: MemberStatement): boolean {
  const present = set.members.find((one) => one.personId === personId)
  if (action === 'remove') return true
  if (action !== 'change' || present === undefined) return false
  return present.acceptBeforeMs === null && !isRaised(present.role, role)
}

function effectOf(set: MemberSet, statement: MemberStatement, timeMs: number) {
  try {
    return checkMemberChange(set, statement, timeMs)
  } catch (error) {
    if (error instanceof Refusal) return null
    throw error
  }
}

/**
 * Returns what both domains agree on: known persons whom the identity provider has too, with the
 * role that both give them.
 */
export function narrowed(set: MemberSet, there: UserSideMembers): MemberSet {
  const members = set.members.flatMap((one): Member[] => {
    const other = there.members.find(({ personId }) => personId === one.personId)
    if (other === undefined || (one.acceptBeforeMs === null && !other.accepted)) return []
    const role = isRaised(one.role, other.role) ? one.role : other.role
    // If neither role includes the other, only what they have in common remains.
    const isCommon = role === other.role || !isRaised(other.role, role)
    return [isCommon ? { ...one, role } : { ...one, role: 'viewer' }]
  })
  return { sequence: there.sequence, members }
}

/** An account as the identity provider reports it. */
interface UserSideMembers {
  readonly sequence: number
  readonly members: readonly {
    readonly personId: string
    readonly role: Role
    /** False when the person is only invited. */
    readonly accepted: boolean
  }[]
}

function hashOf(id: string): Buffer {
  return sha256(Buffer.from(id))
}
