import { randomBytes } from 'node:crypto'
import type { RootDatabase } from 'lmdb'
import type { Member, MemberSet } from '../../custody/members/member-set.js'
import { concat, u32, viewOf } from '../../quorum-protocol/bytes.js'
import { sha256 } from '../../quorum-protocol/tagged.js'
import { type PutRows, unflushedRows } from './unflushed-rows.js'

/** An account to which somebody was ever invited: the row stays, so that its sequence continues. */
export interface MemberRow extends MemberSet {
  readonly accountId: string
}

/** The change that led from one row to the next: the statement's bytes, and what proves it. */
export interface MemberChange {
  readonly timeMs: number
  readonly body: Uint8Array
}

export interface MemberReader {
  /**
   * Returns null for an account to which nobody was ever invited.
   * @param ownerHash 32 bytes: SHA-256 of the account's id
   */
  members(ownerHash: Uint8Array): MemberRow | null
  /** Returns every account to which somebody was ever invited. */
  allMembers(): readonly MemberRow[]
  /** Returns the accounts in which the person is a member or invited. */
  accountsOf(personId: string): readonly MemberRow[]
  /** Random at each start: numbers of changes under another epoch mean nothing. */
  readonly memberEpoch: Uint8Array
  /** Returns the rows that changed after that number, in the order of their changes. */
  membersChangedAfter(number: number): Iterable<readonly [number, MemberRow]>
  /** Returns the kept changes in their order; old ones are trimmed. */
  memberChangesAfter(ownerHash: Uint8Array, sequence: number): readonly MemberChange[]
}

export interface MemberWriter {
  /** @param change null when no statement made it, as with what a restored domain forgets */
  putMembers(row: MemberRow, change: MemberChange | null): void
}

/**
 * Spec silent: the changes kept per account, which the service verifies in turn. A service that was
 * away longer keeps only known persons who are still members, and has the others invited again.
 */
const CHANGES_KEPT = 1_024
const SEQUENCE_MAX = 2 ** 32 - 1

/**
 * The rows are also in memory, because each confirmation reads them: at most 32 members of 300
 * bytes per account.
 * @param root the ledger's environment: 18-members, SHA-256 of the account's id → MemberRow;
 * 19-member-changes, the same ‖ sequence 4 → MemberChange
 */
export function openMemberRows(root: RootDatabase) {
  const plain = { encoder: { useRecords: false } }
  const binaryKeys = { keyEncoding: 'binary', ...plain } as const
  const rows = root.openDB<MemberRow, Buffer>({ name: '18-members', ...binaryKeys })
  const changes = root.openDB<MemberChange, Buffer>({ name: '19-member-changes', ...binaryKeys })
  /** Ordered by the latest change, newest last. */
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
