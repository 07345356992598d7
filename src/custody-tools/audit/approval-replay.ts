import {
  type ApprovalTerm,
  isSameCall,
  readApprovalTerm,
} from '../../custody/approvals/approval-term.js'
import { authorizerName } from '../../custody/authorizers/authorizer.js'
import type { Proof } from '../../custody/authorizers/proof.js'
import { countPeople, type People } from '../../custody/members/persons.js'
import type { ApprovalStanding } from '../../identity-provider/vault/approval-standing.js'
import { viewOf } from '../../quorum-protocol/bytes.js'

/**
 * Replays approvals from the identity provider's log: who gave which, and who was an authorizer
 * when.
 */
export interface ApprovalReplay {
  /**
   * Sets who may approve in the account from then on. Call it in the order of the log.
   * @param people the people with that power
   */
  peopleAre(owner: string, people: People, atMs: number): void
  asked(term: Uint8Array, atMs: number): void
  /** @param proof verified over this term */
  approved(term: Uint8Array, proof: Proof, atMs: number): void
  standingAt(term: Uint8Array, atMs: number): ApprovalStanding | null
  /** Every proof that was replayed, oldest first. */
  readonly proven: readonly ProvenApproval[]
  /**
   * Returns the canonical bytes of each term under which the approval was registered.
   * @param approvalId 16 bytes
   */
  termsOf(approvalId: Uint8Array): readonly Uint8Array[]
}

/** A person's proven approval of a call. */
export interface ProvenApproval {
  readonly term: ApprovalTerm
  /** Name of the authorizer, or `software` for that of a development instance. */
  readonly by: string
  readonly atMs: number
}

interface Asked {
  readonly term: Uint8Array
  readonly atMs: number
}

interface PeopleFrom {
  readonly atMs: number
  readonly people: People
}

/** Dev's software authorizer, which counts for users without an authorizer of their own. */
const SOFTWARE = 'software'

export function createApprovalReplay(): ApprovalReplay {
  const peopleByOwner = new Map<string, PeopleFrom[]>()
  /** Indexed by approval id: a call may be registered again, with other gas. */
  const askedById = new Map<string, Asked[]>()
  /** When each person approved a term, indexed by term. */
  const givenByTerm = new Map<string, Map<string, number>>()
  const proven: ProvenApproval[] = []

  function countAt(owner: string, given: readonly string[], atMs: number): number {
    const found = peopleByOwner.get(owner)?.findLast((from) => from.atMs <= atMs)?.people
    const software = found?.authorizersOfEach.every((own) => own.size === 0) ?? true
    const people = found === undefined ? 0 : countPeople(found, given)
    return software && given.includes(SOFTWARE) ? people + 1 : people
  }

  return {
    peopleAre(owner, people, atMs) {
      peopleByOwner.set(owner, [...(peopleByOwner.get(owner) ?? []), { atMs, people }])
    },
    asked(term, atMs) {
      const id = hex(readApprovalTerm(term).statement.approvalId)
      askedById.set(id, [...(askedById.get(id) ?? []), { term, atMs }])
    },
    approved(term, proof, atMs) {
      const people = givenByTerm.get(hex(term)) ?? new Map<string, number>()
      const by = proof.kind === 'software' ? SOFTWARE : authorizerName(proof.authorizerId)
      if (!people.has(by)) {
        people.set(by, atMs)
        proven.push({ term: readApprovalTerm(term).statement, by, atMs })
      }
      givenByTerm.set(hex(term), people)
    },
    proven,
    termsOf: (approvalId) => askedById.get(hex(approvalId))?.map(({ term }) => term) ?? [],
    standingAt(term, atMs) {
      const { approvalId, ownerHash } = readApprovalTerm(term).statement
      const first = askedById.get(hex(approvalId))?.find((one) => isSameCall(one.term, term))
      if (first === undefined || first.atMs > atMs) return null
      const owner = hex(ownerHash)
      const given = [...(givenByTerm.get(hex(term)) ?? [])]
      const until = given.flatMap(([by, at]) => (at <= atMs ? [by] : []))
      return { people: countAt(owner, until, atMs), waitedMs: atMs - first.atMs }
    },
  }
}

function hex(bytes: Uint8Array): string {
  return viewOf(bytes).toString('hex')
}
