import type { RootDatabase } from 'lmdb'
import type { Member, MemberSet } from '../../custody/members/member-set.js'
import { viewOf } from '../../quorum-protocol/bytes.js'
import { sha256 } from '../../quorum-protocol/tagged.js'
import { type PutRows, unflushedRows } from './unflushed-rows.js'

/** Of an account to which somebody was invited once: it stays, so that its sequence goes on. */
export interface MemberRow extends MemberSet {
  readonly accountId: string
}

export interface MemberReader {
  /**
   * Null of an account to which nobody was ever invited.
   * @param ownerHash 32 bytes: SHA-256 of the account's id
   */
  members(ownerHash: Uint8Array): MemberRow | null
  /** Of all accounts to which somebody was invited once. */
  allMembers(): readonly MemberRow[]
  /** Accounts with a place or an invitation for the person. */
  accountsOf(personId: string): readonly MemberRow[]
}

export interface MemberWriter {
  putMembers(row: MemberRow): void
}

/**
 * In memory as well, since each confirmation asks: 32 members of 300 bytes for an account at most.
 * @param root of the ledger: 18-members, SHA-256 of the account's id → MemberRow
 */
export function openMemberRows(root: RootDatabase) {
  const plain = { encoder: { useRecords: false } }
  const rows = root.openDB<MemberRow, Buffer>({
    name: '18-members',
    keyEncoding: 'binary',
    ...plain,
  })
  const byOwner = new Map<string, MemberRow>()
  const ownersByPerson = new Map<string, Set<string>>()
  const fresh = unflushedRows<Buffer, MemberRow>((key, row) => void rows.put(key, row))

  function keep(name: string, row: MemberRow): void {
    for (const { personId } of byOwner.get(name)?.members ?? NOBODY) {
      const owners = ownersByPerson.get(personId)
      owners?.delete(name)
      if (owners?.size === 0) ownersByPerson.delete(personId)
    }
    byOwner.set(name, row)
    for (const { personId } of row.members) {
      const owners = ownersByPerson.get(personId) ?? new Set()
      ownersByPerson.set(personId, owners.add(name))
    }
  }

  for (const { key, value } of rows.getRange()) keep(nameOf(key), value)
  const reader: MemberReader = {
    members: (ownerHash) => byOwner.get(nameOf(ownerHash)) ?? null,
    allMembers: () => [...byOwner.values()],
    accountsOf: (personId) =>
      [...(ownersByPerson.get(personId) ?? [])].flatMap((name) => byOwner.get(name) ?? []),
  }
  const writer: MemberWriter = {
    putMembers(row) {
      const key = sha256(Buffer.from(row.accountId))
      keep(nameOf(key), row)
      fresh.set(key, row)
    },
  }
  return { reader, writer, put: (): PutRows => fresh.put() }
}

const NOBODY: readonly Member[] = []

function nameOf(bytes: Uint8Array): string {
  return viewOf(bytes).toString('latin1')
}
