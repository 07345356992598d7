import { timingSafeEqual } from 'node:crypto'
import {
  type ApprovalEvidence,
  encodeApprovalEvidence,
} from '../../custody/approvals/approval-evidence.js'
import {
  type ApprovalTerm,
  approvalKeyProof,
  approvalTermMessage,
  isSameCall,
  readApprovalTerm,
} from '../../custody/approvals/approval-term.js'
import { intentTermsHash } from '../../custody/approvals/intent-terms.js'
import type { Authorizer } from '../../custody/authorizers/authorizer.js'
import type { AuthorizerStore } from '../../custody/authorizers/authorizer-store.js'
import { decodeProof } from '../../custody/authorizers/proof.js'
import { verifyProof } from '../../custody/authorizers/verify-proof.js'
import { type PinnedToken, pinnedTokens } from '../../custody/domain-keys/pinned-tokens.js'
import type { ShareStore } from '../../custody/domain-keys/share-store.js'
import type { EvidenceLog } from '../../custody/evidence/evidence-log.js'
import { EVIDENCE_KIND } from '../../custody/evidence/stored-evidence.js'
import type { Persons } from '../../custody/members/persons.js'
import { ulidTimeMs } from '../../domain/ids.js'
import { keccak256 } from '../../domain/keccak.js'
import { APPROVAL_SECONDS_MAX, DELAY_SECONDS_MAX } from '../../policy/bounds.js'
import { sameBytes } from '../../quorum-protocol/bytes.js'
import { type ApprovalEnd, DECISIONS_PER_ANSWER } from '../../quorum-protocol/methods/approvals.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import type { RegistryHolder } from '../../quorum-protocol/registry-holder.js'
import { decodeRouterIntent } from '../../quorum-protocol/router-intent.js'
import { sha256 } from '../../quorum-protocol/tagged.js'
import type { AskedApproval } from './approval-request.js'
import type { ApprovalDecision, ApprovalRow, GivenApproval } from './approval-rows.js'
import { peopleOf } from './approval-standing.js'
import type { Authorizer as Confirming } from './authorizer.js'
import type { Grants } from './grants.js'
import type { LedgerStore } from './ledger-store.js'

/**
 * The calls that wait for people or for their delay. The service registers them with the live key's
 * proof, people approve them with an authorizer's proof, and anyone with the power may end them.
 * What is signed is checked against them (`approval-standing.ts`).
 */
export interface UserSideApprovals {
  /**
   * Stores a call. Resolves once it is durable. The same term again changes nothing; with another
   * term, people are asked again and earlier approvals are void.
   * @throws Refusal
   */
  ask(request: AskedApproval): Promise<void>
  /**
   * Accepts an authorizer's proof. Resolves once it is durable.
   * @param proof encoded; null lets dev's software authorizer sign
   * @param by the signed-in person, if any, and where
   * @throws Refusal APPROVAL_UNKNOWN, _DECLINED or _EXPIRED; NOT_CONFIRMED, NOT_GRANTED
   */
  approve(approvalId: Uint8Array, proof: Uint8Array | null, by: DecidedBy): Promise<GivenApproval>
  /**
   * Ends a call. It only takes away, so it needs no proof; a call that has ended stays as it is.
   */
  end(approvalId: Uint8Array, as: ApprovalEnd): Promise<void>
  /**
   * Declines a call for a person who is signed in at this domain's page.
   * @throws Refusal APPROVAL_UNKNOWN, _DECLINED or _EXPIRED
   */
  decline(approvalId: Uint8Array, personId: string, comment: string | null): Promise<void>
  decisionsAfter(number: number): readonly [number, ApprovalDecision][]
  /** Null when it belongs to no account that the person may see. */
  waiting(approvalId: Uint8Array, personId: string): SeenApproval | null
}

interface DecidedBy {
  /** The person of a verified sign-in; null when only the proof identifies the person. */
  readonly personId: string | null
  /** The only account that the sign-in is valid for; null for every account of the person. */
  readonly accountId: string | null
  /** Where the decision was made; the service has to be told about one at the page. */
  readonly at: 'service' | 'page'
}

export interface WaitingApproval {
  readonly row: ApprovalRow
  readonly term: ApprovalTerm
  readonly call: Uint8Array
}

export interface SeenApproval extends WaitingApproval {
  /** The authorizers of everyone who may approve it now, regardless of who views it. */
  readonly approvers: readonly Authorizer[]
  /**
   * How many distinct people approved it and may still approve: the number that a signature needs.
   */
  readonly people: number
  /** The chain's tokens that the registry pins, by lower-case address. */
  readonly tokens: ReadonlyMap<string, PinnedToken>
}

export interface ApprovalContext {
  readonly ledger: LedgerStore
  readonly shares: ShareStore
  readonly grants: Grants
  readonly authorizers: AuthorizerStore
  readonly persons: Persons
  readonly authorizer: Confirming
  readonly registry: RegistryHolder
  readonly evidence: EvidenceLog
}

/**
 * The bound of one user's open approvals, twice what the service lets wait; each has up to 128 KiB
 * of calldata.
 */
export const OPEN_PER_USER_MAX = 4_096
/**
 * The bound of all users. Past it, users with few approvals may still add some, so that no user can
 * exclude the others.
 */
const OPEN_MAX = 16_384
const OPEN_PER_USER_ALWAYS = 256
/** The two domains' clocks may differ. */
const CLOCK_SLACK_MS = 86_400_000
/** The longest time from an id's creation to its expiry: people's time and the delay together. */
const ID_AGE_MS_MAX = (APPROVAL_SECONDS_MAX + DELAY_SECONDS_MAX) * 1_000 + CLOCK_SLACK_MS

export function createApprovals(context: ApprovalContext): UserSideApprovals {
  const { ledger, shares, grants, authorizers, persons, authorizer, registry, evidence } = context

  /**
   * Records the evidence before the ledger changes. After a crash in between, the evidence has a
   * decision that is simply registered or given again; the other order could leave a ledger entry
   * that is signed without proof.
   */
  function record(atMs: number, entry: ApprovalEvidence): Promise<void> {
    const body = encodeApprovalEvidence(entry)
    return evidence.append({ timeMs: atMs, kind: EVIDENCE_KIND.approval, body })
  }

  /**
   * @returns false when the same call is already registered
   * @throws Refusal unless it may be registered
   */
  function isNews({ term, encoded, userId }: AskedApproval, nowMs: number): boolean {
    const before = ledger.approvals.approval(term.approvalId)
    if (before !== null && before.ended !== null) {
      throw new Refusal('APPROVAL_DECLINED', before.ended.as)
    }
    if (before !== null) return !sameBytes(before.term, encoded)
    const { ofUser, all } = ledger.approvals.openApprovals(userId, nowMs)
    const most = all < OPEN_MAX ? OPEN_PER_USER_MAX : OPEN_PER_USER_ALWAYS
    if (ofUser >= most) {
      throw new Refusal('OVERLOADED', 'too many approvals wait')
    }
    return true
  }

  /** @throws Refusal unless the call may still be decided */
  function undecided(approvalId: Uint8Array, nowMs: number): WaitingApproval {
    const row = ledger.approvals.approval(approvalId)
    if (row === null) throw new Refusal('APPROVAL_UNKNOWN', 'no such approval')
    const { statement: term } = readApprovalTerm(row.term)
    if (row.ended !== null) throw new Refusal('APPROVAL_DECLINED', row.ended.as)
    if (term.expiresAtMs <= nowMs) throw new Refusal('APPROVAL_EXPIRED', 'nobody decided in time')
    return { row, term, call: ledger.approvals.approvalCall(approvalId) ?? Buffer.alloc(0) }
  }

  async function proven(
    { row, term }: WaitingApproval,
    proof: Uint8Array | null,
    nowMs: number,
  ): Promise<{ readonly authorizerId: Uint8Array; readonly proof: Uint8Array }> {
    const message = approvalTermMessage(row.term)
    const { ownerHash, expiresAtMs: confirmBeforeMs } = term
    if (proof === null) {
      const made = await authorizer.confirm(
        { message, ownerHash, confirmBeforeMs },
        null,
        nowMs,
        'approve',
      )
      return { authorizerId: Buffer.alloc(0), proof: made.proof }
    }
    const { webauthn, softwareAuthorizer } = registry.current
    const verdict = await verifyProof(decodeProof(proof), message, {
      authorizers: persons.authorizersOf(ownerHash, 'approve'),
      webauthn,
      softwareAuthorizer,
      // The id makes the proof valid for this call only; the passkey may have been used since.
      signCount: () => 0,
    })
    if (!verdict.ok) throw new Refusal('NOT_CONFIRMED', verdict.reason)
    const { authorizer: by, signCount } = verdict
    if (by !== null) await authorizers.raiseSignCount(by.id, signCount)
    return { authorizerId: by?.id ?? Buffer.alloc(0), proof }
  }

  return {
    async ask(request) {
      const nowMs = Date.now()
      const { term, encoded } = request
      checkAsked(request, nowMs)
      requireOfKey(request)
      if (isNews(request, nowMs)) {
        await record(nowMs, { action: 'asked', term: encoded, rest: NOTHING })
      }
      await ledger.commit((writer) => {
        if (!isNews(request, nowMs)) return
        const before = ledger.approvals.approval(term.approvalId)
        const isAgain = before !== null && isSameCall(before.term, encoded)
        const { userId, needed, delaySeconds, rule, spendUsd, payeeLabel, askedAgain } = request
        const { names } = request
        const askedAtMs = isAgain ? before.askedAtMs : nowMs
        writer.putApproval(term.approvalId, {
          ...{ term: encoded, userId, askedAtMs, needed, delaySeconds, rule, spendUsd },
          ...{ payeeLabel, askedAgain, names },
          ...{ approvals: [], ended: null },
        })
        writer.putApprovalCall(term.approvalId, request.call)
      }).flushed
    },
    async approve(approvalId, proof, { personId, accountId, at }) {
      const nowMs = Date.now()
      const asked = undecided(approvalId, nowMs)
      // Dev's software authorizer confirms only for a signed-in user.
      const { ownerHash } = asked.term
      const isForIt = accountId === null || accountId === asked.row.userId
      const mayApprove = personId !== null && isForIt && persons.may(ownerHash, personId, 'approve')
      if ((personId !== null || proof === null) && !mayApprove) {
        throw new Refusal('NOT_GRANTED', 'an approval of another user')
      }
      const given = { ...(await proven(asked, proof, nowMs)), atMs: nowMs }
      if (givenBy(asked.row, given.authorizerId) === undefined) {
        const { term } = asked.row
        await record(nowMs, { action: 'approved', term, rest: given.proof })
      }
      const { result, flushed } = ledger.commit((writer) => {
        const { row, term } = undecided(approvalId, nowMs)
        if (!sameBytes(row.term, asked.row.term)) {
          throw new Refusal('APPROVAL_MISMATCH', 'the call changed after it was shown')
        }
        if (personId !== null && !persons.may(ownerHash, personId, 'approve')) {
          throw new Refusal('NOT_GRANTED', 'may no longer approve')
        }
        const known = givenBy(row, given.authorizerId)
        if (known !== undefined) return known
        writer.putApproval(approvalId, { ...row, approvals: [...row.approvals, given] })
        if (at === 'page') {
          const { walletId } = term
          const { authorizerId } = given
          writer.putDecision({
            ...{ approvalId, walletId, userId: row.userId, decision: 'approve', authorizerId },
            ...{ atMs: nowMs, comment: null, proof: given.proof },
          })
        }
        return given
      })
      await flushed
      return result
    },
    async end(approvalId, as) {
      await ledger.commit((writer) => {
        const row = ledger.approvals.approval(approvalId)
        if (row === null || row.ended !== null) return
        const ended = { as, atMs: Date.now(), comment: null }
        writer.putApproval(approvalId, { ...row, ended })
      }).flushed
    },
    async decline(approvalId, personId, comment) {
      const atMs = Date.now()
      await ledger.commit((writer) => {
        const { row, term } = undecided(approvalId, atMs)
        const { userId } = row
        if (!persons.may(term.ownerHash, personId, 'read')) {
          throw new Refusal('APPROVAL_UNKNOWN', 'an approval of another user')
        }
        // Declining moves no money, so the power to run keys is enough.
        if (
          !(['approve', 'run'] as const).some((power) =>
            persons.may(term.ownerHash, personId, power),
          )
        ) {
          throw new Refusal('NOT_GRANTED', 'a viewer decides nothing')
        }
        const ended = { as: 'declined', atMs, comment } as const
        writer.putApproval(approvalId, { ...row, ended })
        writer.putDecision({
          ...{ approvalId, walletId: term.walletId, userId, decision: 'decline', atMs, comment },
          ...{ authorizerId: NOTHING, proof: NOTHING },
        })
      }).flushed
    },
    decisionsAfter: (number) => ledger.approvals.decisionsAfter(number, DECISIONS_PER_ANSWER),
    waiting(approvalId, personId) {
      const row = ledger.approvals.approval(approvalId)
      if (row === null) return null
      const { statement: term } = readApprovalTerm(row.term)
      const { ownerHash } = term
      if (!persons.may(ownerHash, personId, 'read')) return null
      const call = ledger.approvals.approvalCall(approvalId) ?? NOTHING
      const approvers = persons.authorizersOf(ownerHash, 'approve')
      const people = peopleOf(row, ownerHash, { persons, registry: registry.current })
      const tokens = pinnedTokens(registry.current, term.chainId)
      return { row, term, call, approvers, people, tokens }
    },
  }

  /** @throws Refusal unless the key's live secret proved the call and the key is the user's own */
  function requireOfKey({ term, userId, keyProof, call }: AskedApproval): void {
    const wallet = shares.get(term.walletId)
    if (wallet === null || wallet.proofs === null)
      throw new Refusal('UNKNOWN_WALLET', 'no such key')
    const ownerHash = sha256(Buffer.from(userId))
    const view = grants.view(term.keyId)
    if (view === null) throw new Refusal('UNKNOWN_KEY', 'no grant for this key')
    const isTheirs =
      sameBytes(wallet.certificate.ownerHash, ownerHash) &&
      sameBytes(term.ownerHash, ownerHash) &&
      sameBytes(view.grant.walletId, term.walletId)
    if (!isTheirs) throw new Refusal('NOT_GRANTED', 'a wallet or key of another user')
    const proofKey = grants.proofKey(term.keyId)
    if (proofKey === null || !timingSafeEqual(approvalKeyProof(proofKey, term, call), keyProof)) {
      throw new Refusal('KEY_PROOF_MISSING', 'no proof of the API key')
    }
  }
}

const NOTHING = Buffer.alloc(0)

function givenBy({ approvals }: ApprovalRow, authorizerId: Uint8Array): GivenApproval | undefined {
  return approvals.find((one) => sameBytes(one.authorizerId, authorizerId))
}

/** @throws Refusal APPROVAL_EXPIRED or MALFORMED */
function checkAsked({ term, call }: AskedApproval, nowMs: number): void {
  if (term.expiresAtMs <= nowMs) throw new Refusal('APPROVAL_EXPIRED', 'asked for too late')
  const askedAtMs = ulidTimeMs(term.approvalId)
  if (askedAtMs > nowMs + CLOCK_SLACK_MS || term.expiresAtMs > askedAtMs + ID_AGE_MS_MAX) {
    throw new Refusal('MALFORMED', 'it would wait for too long')
  }
  if (!sameBytes(hashOf(term, call), term.hash)) throw new Refusal('MALFORMED', 'another call')
}

function hashOf(term: ApprovalTerm, call: Uint8Array): Uint8Array {
  if (term.kind === 'transaction') return keccak256(call)
  const intent = decodeRouterIntent(call)
  if (intent.chainId !== term.chainId || !sameBytes(intent.target, term.to) || term.value !== 0n) {
    throw new Refusal('MALFORMED', 'another call')
  }
  return intentTermsHash(intent)
}
