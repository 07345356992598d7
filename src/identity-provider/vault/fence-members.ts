import type { MemberEvidence } from '../../custody/evidence/evidence-records.js'
import {
  alone,
  checkMemberChange,
  foldMember,
  type MemberSet,
} from '../../custody/members/member-set.js'
import {
  type MemberStatement,
  memberMessage,
  signedForOf,
} from '../../custody/members/member-statement.js'
import { concat } from '../../quorum-protocol/bytes.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import type { Registry } from '../../quorum-protocol/registry.js'
import { sha256 } from '../../quorum-protocol/tagged.js'
import { type ConfirmingStores, isConfirmed } from './fence-confirmed.js'
import type { LedgerStore } from './ledger-store.js'

/**
 * Replays a change of members into a restored ledger, only from the identity provider's own log. An
 * invalid change is skipped, and makes nobody a member.
 * @returns whether the ledger learned it
 */
export async function replayMember(
  { statement, encoded, proof }: MemberEvidence,
  timeMs: number,
  stores: ConfirmingStores,
  registry: Registry,
): Promise<boolean> {
  const { ledger } = stores
  const { accountId, sequence } = statement
  const ownerHash = sha256(Buffer.from(accountId))
  const before = ledger.members(ownerHash) ?? alone(accountId)
  if (sequence <= before.sequence) return false
  const effect = effectOf(before, statement, timeMs)
  const of = effect === 'accepts' ? 'own' : 'owners'
  const message = memberMessage(encoded)
  const holds =
    effect !== null &&
    (effect === 'takes-away' ||
      (await isConfirmed(signedForOf(statement), message, proof, stores, registry, of)))
  // The sequence rises in any case, so that no earlier proof is valid for the next change.
  const next = holds ? foldMember(before, statement, timeMs) : { ...before, sequence }
  const change = { timeMs, body: concat(encoded, proof) }
  await ledger.commit((writer) => writer.putMembers({ accountId, ...next }, change)).flushed
  return holds
}

function effectOf(before: MemberSet, statement: MemberStatement, timeMs: number) {
  try {
    return checkMemberChange(before, statement, timeMs)
  } catch (error) {
    if (error instanceof Refusal) return null
    throw error
  }
}

/**
 * Without the identity provider's complete own log, removals since the backup are unknown. Each
 * account therefore keeps only the member it began with, who invites the others again; if that
 * member had left, the owners in the backup keep it.
 */
export async function forgetMembers(ledger: LedgerStore): Promise<void> {
  for (const { accountId, members, sequence } of ledger.allMembers()) {
    const owners = members.filter((one) => one.role === 'owner' && one.acceptBeforeMs === null)
    const first = owners.filter(({ personId }) => personId === accountId)
    const left = first.length > 0 ? first : owners
    // Above the sequence of every lost change, so that none of their proofs is valid again.
    const next = { accountId, members: left, sequence: sequence + SEQUENCES_FORGOTTEN }
    await ledger.commit((writer) => writer.putMembers(next, null)).flushed
  }
}

/** More changes than an account makes between two backups, and a small part of 32 bits. */
const SEQUENCES_FORGOTTEN = 65_536
