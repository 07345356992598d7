import type { Authorizer } from '../custody/authorizers/authorizer.js'
import type { AuthorizerSet } from '../custody/authorizers/authorizer-set.js'
import type { AuthorizerStore } from '../custody/authorizers/authorizer-store.js'
import { decodeProof } from '../custody/authorizers/proof.js'
import { verifyProof } from '../custody/authorizers/verify-proof.js'
import type { EvidenceLog } from '../custody/evidence/evidence-log.js'
import { EVIDENCE_KIND } from '../custody/evidence/stored-evidence.js'
import { alone, MEMBERS_MAX, type MemberSet } from '../custody/members/member-set.js'
import { memberMessage, readMemberStatement } from '../custody/members/member-statement.js'
import { createPersons } from '../custody/members/persons.js'
import {
  narrowed,
  type ServiceMembers,
  takeStatement,
  type UserSideMembers,
} from '../custody/members/service-members.js'
import { mayIn, type Power, ROLES } from '../domain/role.js'
import { expectBytes, expectInteger, expectList, sameBytes } from '../quorum-protocol/bytes.js'
import type { SocketClient } from '../quorum-protocol/client.js'
import { Refusal } from '../quorum-protocol/refusal.js'
import type { RegistryHolder } from '../quorum-protocol/registry-holder.js'
import { sha256 } from '../quorum-protocol/tagged.js'

/**
 * What this domain knows about members of accounts, and how it follows the identity provider's
 * changes.
 */
export interface RemoteMembers {
  /**
   * Fetches changes. It is cheap when nothing has changed. An account that cannot be followed does
   * not delay the others.
   * @param accountId the account whose failure to report; the default reports any
   * @throws Refusal, Unanswered
   */
  follow(accountId?: string): Promise<void>
  /**
   * Fetches changes, then returns the authorizers of everyone who has the power in the account.
   * With `own`, `id` is the person whose authorizers are returned.
   * @throws Refusal, Unanswered
   */
  authorizersOf(id: string, power: Power | 'own'): Promise<readonly Authorizer[]>
  /** The same, from what is already known. */
  knownAuthorizersOf(id: string, power: Power | 'own'): readonly Authorizer[]
  /**
   * Returns the persons who may approve in the account with that authorizer; null when nobody was
   * ever invited.
   */
  approversBy(accountId: string, authorizerId: Uint8Array): readonly string[] | null
}

export interface MembersContext {
  readonly userSide: SocketClient
  readonly book: ServiceMembers
  readonly store: AuthorizerStore
  readonly registry: RegistryHolder
  readonly evidence: EvidenceLog
  /** Fetches a person's authorizers. */
  readonly known: (personId: string) => Promise<AuthorizerSet>
}

/** The identity provider sends at most this many in one answer. */
export const ACCOUNTS_PER_ANSWER = 64
/** With proofs of 4 KiB this many fit one frame. */
export const STATEMENTS_PER_ANSWER = 64

export function createRemoteMembers(context: MembersContext): RemoteMembers {
  const { userSide, book, store, registry, evidence, known } = context
  const persons = createPersons(book, store)
  let epoch: Uint8Array = Buffer.alloc(0)
  let last = 0
  let following: Promise<void> = Promise.resolve()

  /** Fetches the authorizers of the members to whom the set gives the power. */
  async function freshIn(set: MemberSet, accountId: string, power: Power) {
    for (const { personId, role, acceptBeforeMs } of set.members) {
      if (acceptBeforeMs === null && mayIn(role, power)) await known(personId)
    }
    return createPersons({ members: () => set }, store).authorizersOf(hashOf(accountId), power)
  }

  async function isProven(message: Uint8Array, proof: Uint8Array, by: readonly Authorizer[]) {
    const { webauthn, softwareAuthorizer } = registry.current
    const context = { authorizers: by, webauthn, softwareAuthorizer, signCount: () => 0 }
    try {
      const verdict = await verifyProof(decodeProof(proof), message, context)
      if (!verdict.ok) return false
      const { authorizer, signCount } = verdict
      if (authorizer !== null) await store.raiseSignCount(authorizer.id, signCount)
      return true
    } catch (error) {
      if (error instanceof Refusal) return false
      throw error
    }
  }

  async function take(set: MemberSet, accountId: string, item: unknown): Promise<MemberSet> {
    const [timeMs, body] = expectList(item, 2)
    const { statement, encoded, rest: proof } = readMemberStatement(expectBytes(body))
    if (statement.accountId !== accountId || statement.sequence <= set.sequence) {
      throw new Refusal('CONFLICT', 'a change of other members')
    }
    const atMs = expectInteger(timeMs)
    const next = await takeStatement(set, statement, atMs, async (effect) => {
      const by =
        effect === 'accepts'
          ? (await known(statement.personId)).active
          : await freshIn(set, accountId, 'enlarge')
      return isProven(memberMessage(encoded), proof, by)
    })
    if (next.members !== set.members) {
      const kept = Buffer.from(expectBytes(body))
      await evidence.append({ timeMs: atMs, kind: EVIDENCE_KIND.member, body: kept })
    }
    return next
  }

  async function followAccount(accountId: string): Promise<void> {
    let set: MemberSet = book.members(hashOf(accountId)) ?? alone(accountId)
    for (;;) {
      const answer = await userSide.call('members-get', [accountId, set.sequence])
      const [sequence, members, changes] = expectList(answer, 3)
      const fresh = expectList(changes, STATEMENTS_PER_ANSWER)
      for (const item of fresh) set = await take(set, accountId, item)
      if (fresh.length === STATEMENTS_PER_ANSWER) continue
      const there = { sequence: expectInteger(sequence), members: membersOf(members) }
      await book.put({ accountId, ...narrowed(set, there) })
      return
    }
  }

  /** @returns the accounts that could not be followed, and why; the next run starts with them */
  async function followAll(): Promise<ReadonlyMap<string, Refusal>> {
    const failed = new Map<string, Refusal>()
    let from = last
    for (;;) {
      const answer = await userSide.call('members-changed', [epoch, from])
      const [theirs, changed] = expectList(answer, 2)
      const accounts = expectList(changed, ACCOUNTS_PER_ANSWER)
      const newest = expectBytes(theirs, 16)
      // A new epoch restarts the numbering.
      if (!sameBytes(newest, epoch)) [epoch, last] = [Buffer.from(newest), 0]
      for (const item of accounts) {
        const [number, accountId, sequence] = expectList(item, 3)
        if (typeof accountId !== 'string') throw new Refusal('MALFORMED', 'account')
        try {
          if (book.members(hashOf(accountId))?.sequence !== sequence) await followAccount(accountId)
        } catch (error) {
          if (!(error instanceof Refusal)) throw error
          failed.set(accountId, error)
        }
        from = expectInteger(number)
        if (failed.size === 0) last = from
      }
      if (accounts.length < ACCOUNTS_PER_ANSWER) return failed
    }
  }

  function knownAuthorizersOf(id: string, power: Power | 'own'): readonly Authorizer[] {
    return power === 'own'
      ? persons.ownAuthorizersOf(hashOf(id))
      : persons.authorizersOf(hashOf(id), power)
  }

  return {
    async follow(accountId) {
      const mine = following.then(followAll)
      following = mine.then(
        () => {},
        () => {},
      )
      const failed = await mine
      const [first] = accountId === undefined ? failed.values() : [failed.get(accountId)]
      if (first !== undefined) throw first
    },
    knownAuthorizersOf,
    async authorizersOf(id, power) {
      const set = power === 'own' ? null : book.members(hashOf(id))
      if (set === null || power === 'own') return (await known(id)).active
      return freshIn(set, id, power)
    },
    approversBy: (accountId, authorizerId) =>
      persons.holdersOf(hashOf(accountId), 'approve', authorizerId),
  }
}

function membersOf(list: unknown): UserSideMembers['members'] {
  return expectList(list, MEMBERS_MAX).map((item) => {
    const [personId, named, accepted] = expectList(item, 3)
    const role = ROLES.find((one) => one === named)
    if (typeof personId !== 'string' || typeof accepted !== 'boolean' || role === undefined) {
      throw new Refusal('MALFORMED', 'member')
    }
    return { personId, role, accepted }
  })
}

function hashOf(id: string): Buffer {
  return sha256(Buffer.from(id))
}
