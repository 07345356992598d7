import { type Member, roleIn } from '../../custody/members/member-set.js'
import { sameBytes } from '../../quorum-protocol/bytes.js'
import {
  ACCOUNTS_PER_ANSWER,
  type MEMBERS,
  STATEMENTS_PER_ANSWER,
} from '../../quorum-protocol/methods/members.js'
import type { FieldsOf, ResultsOf } from '../../quorum-protocol/methods/method.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import { sha256 } from '../../quorum-protocol/tagged.js'
import type { LedgerStore } from './ledger-store.js'

/** Answers the socket's `members-*` calls, with which the service follows changes of members. */

type Fields = FieldsOf<typeof MEMBERS>
type Results = ResultsOf<typeof MEMBERS>

type MemberLedger = Pick<
  LedgerStore,
  'members' | 'memberEpoch' | 'membersChangedAfter' | 'memberChangesAfter' | 'commit'
>

export function membersChanged(
  { epoch, after }: Fields['members-changed'],
  ledger: MemberLedger,
): Results['members-changed'] {
  const { memberEpoch } = ledger
  const from = sameBytes(epoch, memberEpoch) ? after : 0
  const accounts = []
  for (const [number, { accountId, sequence }] of ledger.membersChangedAfter(from)) {
    if (accounts.length === ACCOUNTS_PER_ANSWER) break
    accounts.push({ number, accountId, sequence })
  }
  return { epoch: memberEpoch, accounts }
}

export async function membersOf(
  { accountId, after }: Fields['members-get'],
  ledger: MemberLedger,
): Promise<Results['members-get']> {
  // Only changes that are on disk are reported.
  await ledger.commit(() => null).flushed
  const ownerHash = sha256(Buffer.from(accountId))
  const row = ledger.members(ownerHash)
  if (row === null) throw new Refusal('UNKNOWN_KEY', 'nobody was ever invited there')
  const changes = ledger.memberChangesAfter(ownerHash, after).slice(0, STATEMENTS_PER_ANSWER)
  const members = row.members.map(({ personId, role }: Member) => {
    return { personId, role, accepted: roleIn(row, personId) !== null }
  })
  return { sequence: row.sequence, members, changes }
}
