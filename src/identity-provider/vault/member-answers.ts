import { type Member, roleIn } from '../../custody/members/member-set.js'
import { expectBytes, expectInteger, sameBytes } from '../../quorum-protocol/bytes.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import { sha256 } from '../../quorum-protocol/tagged.js'
import type { LedgerStore } from './ledger-store.js'

/** Answers the socket's `members-*` calls, with which the service follows changes of members. */

/** The service accepts at most this many at once. */
const ACCOUNTS_PER_ANSWER = 64
const STATEMENTS_PER_ANSWER = 64
const ID_CHARS_MAX = 255

type MemberLedger = Pick<
  LedgerStore,
  'members' | 'memberEpoch' | 'membersChangedAfter' | 'memberChangesAfter' | 'commit'
>

/**
 * @param fields `[epoch, after]` of the previous answer; another epoch starts from the beginning
 */
export function membersChanged(fields: readonly unknown[], ledger: MemberLedger): unknown[] {
  const { memberEpoch } = ledger
  const isSame = sameBytes(expectBytes(fields[0]), memberEpoch)
  const after = isSame ? expectInteger(fields[1]) : 0
  const accounts: unknown[] = []
  for (const [number, { accountId, sequence }] of ledger.membersChangedAfter(after)) {
    if (accounts.length === ACCOUNTS_PER_ANSWER) break
    accounts.push([number, accountId, sequence])
  }
  return [memberEpoch, accounts]
}

/** @param fields `[account id, sequence]`: the changes after that sequence */
export async function membersOf(
  [accountId, after]: readonly unknown[],
  ledger: MemberLedger,
): Promise<unknown[]> {
  if (typeof accountId !== 'string' || accountId.length > ID_CHARS_MAX) {
    throw new Refusal('MALFORMED', 'account')
  }
  // Only changes that are on disk are reported.
  await ledger.commit(() => null).flushed
  const ownerHash = sha256(Buffer.from(accountId))
  const row = ledger.members(ownerHash)
  if (row === null) throw new Refusal('UNKNOWN_KEY', 'nobody was ever invited there')
  const changes = ledger
    .memberChangesAfter(ownerHash, expectInteger(after))
    .slice(0, STATEMENTS_PER_ANSWER)
  const members = row.members.map((member: Member) => [
    ...[member.personId, member.role, roleIn(row, member.personId) !== null],
  ])
  return [row.sequence, members, changes.map(({ timeMs, body }) => [timeMs, body])]
}
