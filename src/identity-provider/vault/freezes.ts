import {
  encodeFreezeStatement,
  type FreezeStatement,
  type FreezeSubject,
  freezeMessage,
  idOfSubject,
  subjectOfId,
} from '../../custody/authorizers/freeze-statement.js'
import type { ShareStore } from '../../custody/domain-keys/share-store.js'
import type { EvidenceEntry } from '../../custody/evidence/evidence-log.js'
import { EVIDENCE_KIND } from '../../custody/evidence/stored-evidence.js'
import type { Persons } from '../../custody/members/persons.js'
import type { Freezing } from '../../domain/freeze.js'
import { concat, sameBytes, u8, u64 } from '../../quorum-protocol/bytes.js'
import { FREEZE_SCOPES } from '../../quorum-protocol/freeze-scopes.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import { sha256 } from '../../quorum-protocol/tagged.js'
import type { Authorizer } from './authorizer.js'
import type { TokenHolder } from './console-token.js'
import type { FreezeRow, LedgerStore } from './ledger-store.js'
import type { RecordedChanges } from './recorded-changes.js'

/**
 * The identity provider's own freezes. The service may set one, because a freeze only takes away.
 * Lifting one takes a proof by the user's authorizer, so that the service cannot do it by itself.
 */
export interface UserSideFreezes {
  row(subject: FreezeSubject): FreezeRow
  /**
   * Freezes the subject, in force at once. Resolves once it is durable. A subject that is already
   * frozen keeps its time, and every earlier request to lift it becomes void: it may arrive late,
   * after the service gave it up.
   * @throws Refusal NOT_GRANTED, UNKNOWN_WALLET or UNKNOWN_KEY
   */
  freeze(request: FreezeRequest): Promise<FreezeRow>
  /**
   * Lifts a freeze.
   * @param by holder of the verified console token
   * @returns the new sequence and the encoded proof
   * @throws Refusal NOT_GRANTED, NOT_CONFIRMED, STALE_GRANT, UNKNOWN_WALLET or UNKNOWN_KEY
   */
  unfreeze(request: UnfreezeRequest, by: TokenHolder): Promise<LiftedFreeze>
  /**
   * @throws Frozen when a freeze stops a call of a user's wallet; `grantId` is null when its key is
   * unknown
   */
  requireThawed(ownerHash: Uint8Array, walletId: Uint8Array, grantId: Uint8Array | null): void
  /** @throws Frozen when a freeze stops calls of the service's own wallets */
  requireInstanceThawed(): void
}

interface FreezeRequest extends FreezeSubject {
  readonly userId: string
}

interface UnfreezeRequest extends FreezeRequest {
  /** An encoded proof by the user's authorizer; null when none was sent. */
  readonly confirmation: Uint8Array | null
  readonly confirmBeforeMs: number
  /** The sequence after the freeze is lifted; null when a service of an earlier build sent none. */
  readonly sequence: number | null
}

interface LiftedFreeze {
  readonly sequence: number
  readonly proof: Uint8Array
}

/** Tells the caller what is frozen and since when. */
export class Frozen extends Refusal {
  /** A number of `FREEZE_SCOPES` in one byte, and ms since the epoch in eight. */
  readonly detail: Uint8Array

  constructor(scope: Freezing['scope'], sinceMs: number) {
    super('FROZEN', scope)
    this.detail = concat(u8(FREEZE_SCOPES[scope]), u64(sinceMs))
  }
}

export function createFreezes(
  ledger: LedgerStore,
  shares: ShareStore,
  authorizer: Authorizer,
  persons: Persons,
  changes: RecordedChanges,
  instance: () => Freezing | null,
): UserSideFreezes {
  /** A user may not freeze or lift another user's things. */
  function requireOwned({ scope, subject, userId }: FreezeRequest): Buffer {
    const ownerHash = sha256(Buffer.from(userId))
    const id = idOfSubject(subject)
    if (scope === 'wallet') {
      const wallet = shares.get(id)
      if (wallet === null) throw new Refusal('UNKNOWN_WALLET', 'no such wallet')
      if (!sameBytes(wallet.certificate.ownerHash, ownerHash)) throw notOwned()
    } else if (scope === 'key') {
      const grant = ledger.grant(id)
      if (grant === null) throw new Refusal('UNKNOWN_KEY', 'no such grant')
      if (grant.userId !== userId) throw notOwned()
    } else if (!sameBytes(subject, ownerHash)) throw notOwned()
    return ownerHash
  }

  function requireOwner(by: TokenHolder, accountId: string, ownerHash: Uint8Array): void {
    const isTheirs = by.accountId === accountId && persons.may(ownerHash, by.personId, 'enlarge')
    if (!isTheirs) throw notOwned()
  }

  function requireNone(subject: FreezeSubject): void {
    const { sinceMs } = ledger.freeze(subject.scope, subject.subject)
    if (sinceMs !== null) throw new Frozen(subject.scope, sinceMs)
  }

  function requireInstanceThawed(): void {
    const standing = instance()
    if (standing !== null) throw new Frozen('instance', standing.sinceMs)
  }

  return {
    row: ({ scope, subject }) => ledger.freeze(scope, subject),
    async freeze(request) {
      const ownerHash = requireOwned(request)
      const { scope, subject } = request
      const nowMs = Date.now()
      const { result, recorded } = changes.commit<FreezeRow>((writer) => {
        const before = ledger.freeze(scope, subject)
        const sequence = before.sequence + 1
        const row = { sequence, sinceMs: before.sinceMs ?? nowMs }
        writer.putFreeze(scope, subject, row)
        const of = { scope, subject, ownerHash, sequence }
        const statement: FreezeStatement = { action: 'freeze', ...of, confirmBeforeMs: 0 }
        return { result: row, entry: entryOf(statement, Buffer.alloc(0), nowMs) }
      })
      await recorded
      return result
    },
    async unfreeze(request, by) {
      const ownerHash = requireOwned(request)
      requireOwner(by, request.userId, ownerHash)
      const { scope, subject, confirmation, confirmBeforeMs } = request
      const before = ledger.freeze(scope, subject)
      const sequence = before.sequence + 1
      if ((request.sequence ?? sequence) !== sequence) throw changedMeanwhile()
      const of = { scope, subject, ownerHash, sequence }
      const statement: FreezeStatement = { action: 'unfreeze', ...of, confirmBeforeMs }
      const message = freezeMessage(encodeFreezeStatement(statement))
      const nowMs = Date.now()
      const asked = { message, ownerHash, confirmBeforeMs }
      const confirmed = await authorizer.confirm(asked, confirmation, nowMs)
      const { recorded } = changes.commit((writer) => {
        // Another change may have been made while this one was being confirmed.
        requireOwner(by, request.userId, ownerHash)
        authorizer.requireStanding(confirmed, ownerHash)
        if (ledger.freeze(scope, subject).sequence !== before.sequence) throw changedMeanwhile()
        writer.putFreeze(scope, subject, { sequence, sinceMs: null })
        return { result: null, entry: entryOf(statement, confirmed.proof, nowMs) }
      })
      await recorded
      await authorizer.spend(confirmed)
      return { sequence, proof: confirmed.proof }
    },
    requireThawed(ownerHash, walletId, grantId) {
      requireInstanceThawed()
      if (!ledger.anyFrozen) return
      requireNone({ scope: 'user', subject: ownerHash })
      requireNone({ scope: 'wallet', subject: subjectOfId(walletId) })
      if (grantId !== null) requireNone({ scope: 'key', subject: subjectOfId(grantId) })
    },
    requireInstanceThawed,
  }
}

function entryOf(statement: FreezeStatement, proof: Uint8Array, timeMs: number): EvidenceEntry {
  const body = concat(encodeFreezeStatement(statement), proof)
  return { timeMs, kind: EVIDENCE_KIND.freeze, body }
}

function changedMeanwhile(): Refusal {
  return new Refusal('STALE_GRANT', 'the freeze changed after it was shown')
}

function notOwned(): Refusal {
  return new Refusal('NOT_GRANTED', 'not of this user')
}
