import { randomBytes } from 'node:crypto'
import type { RootDatabase } from 'lmdb'
import type { Member, MemberSet } from '../../custody/members/member-set.js'
import { concat, u32, viewOf } from '../../quorum-protocol/bytes.js'
import { sha256 } from '../../quorum-protocol/tagged.js'
import { type PutRows, unflushedRows } from './unflushed-rows.js'

/** Of an account to which somebody was invited once: it stays, so that its sequence goes on. */
export interface MemberRow extends MemberSet {
  readonly accountId: string
}

/** What made a row of the one before it: a statement's own bytes, and what proves it. */
export interface MemberChange {
  readonly timeMs: number
  readonly body: Uint8Array
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
  /** Drawn at each start: numbers of changes of another one mean nothing. */
  readonly memberEpoch: Uint8Array
  /** Rows that changed after the change of that number, the first of them first. */
  membersChangedAfter(number: number): Iterable<readonly [number, MemberRow]>
  /** In their order; of those that were long ago there are none. */
  memberChangesAfter(ownerHash: Uint8Array, sequence: number): readonly MemberChange[]
}

export interface MemberWriter {
  /** @param change null: no statement made it, as with what a restored domain forgets */
  putMembers(row: MemberRow, change: MemberChange | null): void
}

/**
 * Spec silent: of an account, for the service, which verifies them in turn. One that was away for longer
 * keeps of whom it knew those who still are members, and has the others invited again.
 */
const CHANGES_KEPT = 1_024
const SEQUENCE_MAX = 2 ** 32 - 1

/**
 * In memory as well, since each confirmation asks: 32 members of 300 bytes for an account at most.
 * @param root of the ledger: 18-members, SHA-256 of the account's id → MemberRow; 19-member-changes,
 * the same ‖ sequence 4 → MemberChange
 */
export function openMemberRows(root: RootDatabase) {
  const plain = { encoder: { useRecords: false } }
  const binaryKeys = { keyEncoding: 'binary', ...plain } as const
  const rows = root.openDB<MemberRow, Buffer>({ name: '18-members', ...binaryKeys })
  const changes = root.openDB<MemberChange, Buffer>({ name: '19-member-changes', ...binaryKeys })
  /** The last that changed is the last. */
  const byOwner = new Map<string, MemberRow>()
  const numbers = new Map<string, number>()
  const ownersByPerson = new Map<string, Set<string>>()
  let last = 0
  const fresh = unflushedRows<Buffer, MemberRow>((key, row) => void rows.put(key, row))
  const freshChanges = unflushedRows<Buffer, MemberChange>((key, change) => {
    void changes.put(key, change)
    const sequence = key.readUInt32BE(32)
    if (sequence > CHANGES_KEPT) {
      void changes.remove(changeKey(key.subarray(0, 32), sequence - CHANGES_KEPT))
    }
  })

  function keep(name: string, row: MemberRow): void {
    for (const { personId } of byOwner.get(name)?.members ?? NOBODY) {
      const owners = ownersByPerson.get(personId)
      owners?.delete(name)
      if (owners?.size === 0) ownersByPerson.delete(personId)
    }
    byOwner.delete(name)
    byOwner.set(name, row)
    numbers.set(name, ++last)
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
    memberEpoch: randomBytes(16),
    *membersChangedAfter(number) {
      if (number === last) return
      for (const [name, row] of byOwner) {
        const own = numbers.get(name) ?? 0
        if (own > number) yield [own, row]
      }
    },
    memberChangesAfter(ownerHash, sequence) {
      const start = changeKey(ownerHash, sequence + 1)
      const stored = changes.getRange({ start, end: changeKey(ownerHash, SEQUENCE_MAX) })
      return [...stored].map(({ value }) => value)
    },
  }
  const writer: MemberWriter = {
    putMembers(row, change) {
      const key = sha256(Buffer.from(row.accountId))
      keep(nameOf(key), row)
      fresh.set(key, row)
      if (change !== null) freshChanges.set(changeKey(key, row.sequence), change)
    },
  }
  function put(): PutRows {
    const [first, second] = [fresh.put(), freshChanges.put()]
    return {
      flushed() {
        first.flushed()
        second.flushed()
      },
      failed() {
        first.failed()
        second.failed()
      },
    }
  }
  return { reader, writer, put }
}

const NOBODY: readonly Member[] = []

function changeKey(ownerHash: Uint8Array, sequence: number): Buffer {
  return concat(ownerHash, u32(sequence))
}

function nameOf(bytes: Uint8Array): string {
  return viewOf(bytes).toString('latin1')
}
