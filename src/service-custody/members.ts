import type { Authorizer } from '../custody/authorizers/authorizer.js'
import type { AuthorizerSet } from '../custody/authorizers/authorizer-set.js'
import type { AuthorizerStore } from '../custody/authorizers/authorizer-store.js'
import { decodeProof } from '../custody/authorizers/proof.js'
import { verifyProof } from '../custody/authorizers/verify-proof.js'
import type { EvidenceLog } from '../custody/evidence/evidence-log.js'
import { EVIDENCE_KIND } from '../custody/evidence/stored-evidence.js'
import { alone, type MemberSet } from '../custody/members/member-set.js'
import { memberMessage, readMemberStatement } from '../custody/members/member-statement.js'
import { createPersons } from '../custody/members/persons.js'
import { narrowed, type ServiceMembers, takeStatement } from '../custody/members/service-members.js'
import { mayIn, type Power } from '../domain/role.js'
import { sameBytes } from '../quorum-protocol/bytes.js'
import type { SocketClient } from '../quorum-protocol/client.js'
import { askUserSide } from '../quorum-protocol/methods/ask.js'
import {
  ACCOUNTS_PER_ANSWER,
  type MEMBERS,
  STATEMENTS_PER_ANSWER,
} from '../quorum-protocol/methods/members.js'
import type { ResultOf } from '../quorum-protocol/methods/method.js'
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

interface MembersContext {
  readonly userSide: SocketClient
  readonly book: ServiceMembers
  readonly store: AuthorizerStore
  readonly registry: RegistryHolder
  readonly evidence: EvidenceLog
  /** Fetches a person's authorizers. */
  readonly known: (personId: string) => Promise<AuthorizerSet>
}

type MemberChange = ResultOf<(typeof MEMBERS)['members-get']>['changes'][number]

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

  async function take(
    set: MemberSet,
    accountId: string,
    { timeMs, body }: MemberChange,
  ): Promise<MemberSet> {
    const { statement, encoded, rest: proof } = readMemberStatement(body)
    if (statement.accountId !== accountId || statement.sequence <= set.sequence) {
      throw new Refusal('CONFLICT', 'a change of other members')
    }
    const next = await takeStatement(set, statement, timeMs, async (effect) => {
      const by =
        effect === 'accepts'
          ? (await known(statement.personId)).active
          : await freshIn(set, accountId, 'enlarge')
      return isProven(memberMessage(encoded), proof, by)
    })
    if (next.members !== set.members) {
      await evidence.append({ timeMs, kind: EVIDENCE_KIND.member, body: Buffer.from(body) })
    }
    return next
  }

  async function followAccount(accountId: string): Promise<void> {
    let set: MemberSet = book.members(hashOf(accountId)) ?? alone(accountId)
    for (;;) {
      const after = set.sequence
      const there = await askUserSide(userSide, 'members-get', { accountId, after })
      for (const change of there.changes) set = await take(set, accountId, change)
      if (there.changes.length === STATEMENTS_PER_ANSWER) continue
      await book.put({ accountId, ...narrowed(set, there) })
      return
    }
  }

  /** @returns the accounts that could not be followed, and why; the next run starts with them */
  async function followAll(): Promise<ReadonlyMap<string, Refusal>> {
    const failed = new Map<string, Refusal>()
    let from = last
    for (;;) {
      const changed = await askUserSide(userSide, 'members-changed', { epoch, after: from })
      // A new epoch restarts the numbering.
      if (!sameBytes(changed.epoch, epoch)) [epoch, last] = [Buffer.from(changed.epoch), 0]
      for (const { number, accountId, sequence } of changed.accounts) {
        try {
          if (book.members(hashOf(accountId))?.sequence !== sequence) await followAccount(accountId)
        } catch (error) {
          if (!(error instanceof Refusal)) throw error
          failed.set(accountId, error)
        }
        from = number
        if (failed.size === 0) last = from
      }
      if (changed.accounts.length < ACCOUNTS_PER_ANSWER) return failed
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

function hashOf(id: string): Buffer {
  return sha256(Buffer.from(id))
}
