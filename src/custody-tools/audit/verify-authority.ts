import {
  encodeApprovalEvidence,
  type ReadApprovalEvidence,
} from '../../custody/approvals/approval-evidence.js'
import { approvalTermMessage } from '../../custody/approvals/approval-term.js'
import {
  type AuthorizerSet,
  NO_AUTHORIZERS,
  verifyEntry,
} from '../../custody/authorizers/authorizer-set.js'
import {
  type AuthorizerEntry,
  decodeCertificate,
  encodeEntry,
  entryMessage,
} from '../../custody/authorizers/certificate.js'
import { freezeMessage } from '../../custody/authorizers/freeze-statement.js'
import { grantMessage } from '../../custody/authorizers/grant-statement.js'
import { decodeProof } from '../../custody/authorizers/proof.js'
import { verifyProof } from '../../custody/authorizers/verify-proof.js'
import type {
  FreezeEvidence,
  GrantEvidence,
  MemberEvidence,
} from '../../custody/evidence/evidence-records.js'
import type { Dated, ReadEvidence } from '../../custody/evidence/read-evidence.js'
import { memberMessage, signedForOf } from '../../custody/members/member-statement.js'
import type { Power } from '../../domain/role.js'
import type { ApprovalStanding } from '../../identity-provider/vault/approval-standing.js'
import { concat, viewOf } from '../../quorum-protocol/bytes.js'
import { verifyP256 } from '../../quorum-protocol/p256.js'
import type { Registry } from '../../quorum-protocol/registry.js'
import { sha256 } from '../../quorum-protocol/tagged.js'
import {
  type ApprovalReplay,
  createApprovalReplay,
  type ProvenApproval,
} from './approval-replay.js'
import { createGrantReplay, type GrantReplay } from './grant-replay.js'
import { createMemberReplay, type MemberReplay } from './member-replay.js'
import { createPolicyReplay, grantVersionName, type PolicyReplay } from './policy-replay.js'

/**
 * Proves offline that each enlargement of a grant was confirmed by an authorizer that the user had
 * at that time, that each freeze was lifted by one, and that each authorizer except the first was
 * approved by an earlier one or by the root.
 */
export interface AuthorityReport extends Pick<PolicyReplay, 'policiesOf' | 'ancestorsOf'> {
  readonly problems: readonly string[]
  /** The grant versions in the identity provider's log; see `grantVersionName`. */
  readonly grantVersions: ReadonlySet<string>
  /**
   * Returns the standing of a term's approval at a time.
   * @param term canonical bytes
   * @returns null when it was never registered
   */
  approvalAt(term: Uint8Array, atMs: number): ApprovalStanding | null
  /**
   * Returns the canonical bytes of the terms under which an approval was registered.
   * @param approvalId 16 bytes
   */
  approvalTerms(approvalId: Uint8Array): readonly Uint8Array[]
  /** The approvals by people whose proofs verify. */
  readonly approvedByPeople: readonly ProvenApproval[]
}

/** The state of users' authorizers and keys' grants after the entries so far. */
interface Replay {
  readonly registry: Registry
  readonly problems: string[]
  readonly setByOwner: Map<string, AuthorizerSet>
  readonly members: MemberReplay
  readonly grants: GrantReplay
  /** The last sequence seen of each scope and subject. */
  readonly freezeSequences: Map<string, number>
  readonly approvals: ApprovalReplay
}

type Step =
  | { readonly index: number; readonly timeMs: number; readonly entry: AuthorizerEntry }
  | { readonly index: number; readonly timeMs: number; readonly grant: GrantEvidence }
  | { readonly index: number; readonly timeMs: number; readonly member: MemberEvidence }
  | { readonly index: number; readonly timeMs: number; readonly freeze: FreezeEvidence }
  | { readonly index: number; readonly timeMs: number; readonly approval: ReadApprovalEvidence }

/** @param services the logs of all nodes of a journal */
export async function verifyAuthority(
  services: readonly ReadEvidence[],
  user: ReadEvidence,
  registry: Registry,
): Promise<AuthorityReport> {
  const setByOwner = new Map<string, AuthorizerSet>()
  const policies = createPolicyReplay()
  const replay: Replay = {
    registry,
    problems: [],
    setByOwner,
    members: createMemberReplay((owner) => setByOwner.get(hex(owner)) ?? NO_AUTHORIZERS),
    grants: createGrantReplay(policies),
    freezeSequences: new Map(),
    approvals: createApprovalReplay(),
  }
  for (const step of stepsOf(user)) {
    if ('entry' in step) await replayAuthorizer(step.entry, step.index, step.timeMs, replay)
    else if ('member' in step) await replayMember(step.member, step.index, step.timeMs, replay)
    else if ('grant' in step) await replayGrant(step.grant, step.index, step.timeMs, replay)
    else if ('approval' in step)
      await replayApproval(step.approval, step.index, step.timeMs, replay)
    else await replayFreeze(step.freeze, step.index, step.timeMs, replay)
  }
  const proved = ({ encoded, proof }: GrantEvidence | FreezeEvidence | MemberEvidence) =>
    concat(encoded, proof)
  const compare = <T>(
    what: string,
    of: (evidence: ReadEvidence) => readonly Dated<T>[],
    bytesOf: (value: T) => Uint8Array,
  ) => {
    const known = new Set(of(user).map(({ value }) => hex(bytesOf(value))))
    for (const service of services) {
      for (const { index, value } of of(service)) {
        if (known.has(hex(bytesOf(value)))) continue
        const where = `${service.name}: ${what} in entry ${index}`
        replay.problems.push(`${where} is not in the identity provider's log`)
      }
    }
  }
  compare('authorizer', ({ authorizers }) => authorizers, encodeEntry)
  compare('member', ({ members }) => members, proved)
  compare('freeze', ({ freezes }) => freezes, proved)
  compare('approval', ({ approvals }) => approvals, encodeApprovalEvidence)
  compare('grant', ({ grants }) => grants, proved)
  return {
    problems: replay.problems,
    grantVersions: new Set(
      user.grants.map(({ value }) =>
        grantVersionName(value.statement.grantId, value.statement.version),
      ),
    ),
    policiesOf: policies.policiesOf,
    ancestorsOf: policies.ancestorsOf,
    approvalAt: replay.approvals.standingAt,
    approvalTerms: replay.approvals.termsOf,
    approvedByPeople: replay.approvals.proven,
  }
}

/** Orders the steps as in the identity provider's log, which has a single writer. */
function stepsOf(user: ReadEvidence): Step[] {
  const dated = <T, S extends Step>(list: readonly Dated<T>[], step: (value: Dated<T>) => S) =>
    list.map(step)
  return [
    ...dated(user.authorizers, ({ index, timeMs, value }) => ({ index, timeMs, entry: value })),
    ...dated(user.members, ({ index, timeMs, value }) => ({ index, timeMs, member: value })),
    ...dated(user.grants, ({ index, timeMs, value }) => ({ index, timeMs, grant: value })),
    ...dated(user.approvals, ({ index, timeMs, value }) => ({ index, timeMs, approval: value })),
    ...dated(user.freezes, ({ index, timeMs, value }) => ({ index, timeMs, freeze: value })),
  ].sort((a, b) => a.index - b.index)
}

async function replayAuthorizer(
  entry: AuthorizerEntry,
  index: number,
  timeMs: number,
  replay: Replay,
): Promise<void> {
  const { registry, problems, setByOwner, members } = replay
  try {
    const owner = hex(decodeCertificate(entry.certificate).ownerHash)
    const message = entryMessage(entry)
    const signed = registry
      .keysOf('approvers', timeMs)
      .some((key) => verifyP256(key, message, entry.userSignature))
    if (!signed) throw new Error('the identity provider has not signed it')
    const { set } = await verifyEntry(setByOwner.get(owner) ?? NO_AUTHORIZERS, entry, {
      webauthn: registry.webauthn,
      root: registry.root,
      signCount: () => 0,
    })
    setByOwner.set(owner, set)
    for (const name of new Set([owner, ...members.accountsOf(owner)])) {
      tellPeople(name, timeMs, replay)
    }
  } catch (error) {
    problems.push(
      `identity provider log: authorizer in entry ${index} does not verify: ${wordsOf(error)}`,
    )
  }
}

/** Checks that each change has the next sequence, and the powers and proof that it needs. */
async function replayMember(
  { statement, encoded, proof }: MemberEvidence,
  index: number,
  timeMs: number,
  replay: Replay,
): Promise<void> {
  const problem = (reason: string) =>
    replay.problems.push(`identity provider log: member in entry ${index} ${reason}`)
  const ownerHash = sha256(Buffer.from(statement.accountId))
  try {
    const effect = replay.members.effectOf(statement, timeMs)
    if (effect !== 'takes-away') {
      const power = effect === 'accepts' ? 'own' : 'enlarge'
      const message = memberMessage(encoded)
      const verdict = await judge(signedForOf(statement), message, proof, replay, power)
      if (verdict !== null) problem(`has a proof that does not verify: ${verdict}`)
      else if (timeMs > statement.confirmBeforeMs) problem('was confirmed too late')
    }
  } catch (error) {
    problem(`is against the rules: ${wordsOf(error)}`)
  }
  replay.members.changed(statement, timeMs)
  tellPeople(hex(ownerHash), timeMs, replay)
}

/** Sets who may approve in an account from then on. */
function tellPeople(owner: string, timeMs: number, { members, approvals }: Replay): void {
  approvals.peopleAre(owner, members.persons.peopleIn(Buffer.from(owner, 'hex'), 'approve'), timeMs)
}

async function replayApproval(
  { action, statement, term, rest }: ReadApprovalEvidence,
  index: number,
  timeMs: number,
  replay: Replay,
): Promise<void> {
  if (action === 'asked') {
    replay.approvals.asked(term, timeMs)
    return
  }
  const message = approvalTermMessage(term)
  const verdict = await judge(statement.ownerHash, message, rest, replay, 'approve')
  if (verdict === null) replay.approvals.approved(term, decodeProof(rest), timeMs)
  else {
    replay.problems.push(
      `identity provider log: approval in entry ${index} has a proof that does not verify: ${verdict}`,
    )
  }
}

async function replayGrant(
  { statement, encoded, proof }: GrantEvidence,
  index: number,
  timeMs: number,
  replay: Replay,
): Promise<void> {
  const problem = (reason: string) =>
    replay.problems.push(`identity provider log: grant in entry ${index} ${reason}`)
  const isMadeByKey = replay.grants.isFirstOfSubKey(statement)
  if (isMadeByKey) {
    const wider = replay.grants.beyondParents(statement, timeMs)
    if (wider.length > 0) problem(`grants what the key that made it lacks: ${wider.join(', ')}`)
  }
  const enlarges = !isMadeByKey && replay.grants.isEnlarged(statement)
  if (statement.rotatedFrom !== null && enlarges) problem('enlarges by a rotation')
  if (proof.length > 0) {
    const verdict = await judge(statement.ownerHash, grantMessage(encoded), proof, replay)
    if (verdict !== null) problem(`has a proof that does not verify: ${verdict}`)
    else if (statement.confirmBeforeMs > 0 && timeMs > statement.confirmBeforeMs) {
      problem('was confirmed too late')
    }
  } else if (enlarges && statement.rotatedFrom === null) {
    problem('enlarges without the proof of an authorizer')
  }
  replay.grants.granted(statement, enlarges, timeMs)
}

/**
 * Checks that each change has the next sequence, and that a freeze was lifted only with a proof.
 */
async function replayFreeze(
  { statement, encoded, proof }: FreezeEvidence,
  index: number,
  timeMs: number,
  replay: Replay,
): Promise<void> {
  const problem = (reason: string) =>
    replay.problems.push(`identity provider log: freeze in entry ${index} ${reason}`)
  const { action, scope, subject, sequence, ownerHash, confirmBeforeMs } = statement
  const name = `${scope}:${hex(subject)}`
  // A restored ledger's entries from the other log keep the sequences that they had there.
  if (sequence <= (replay.freezeSequences.get(name) ?? 0)) problem('repeats an earlier sequence')
  replay.freezeSequences.set(name, sequence)
  if (action === 'freeze') return
  const verdict = await judge(ownerHash, freezeMessage(encoded), proof, replay)
  if (verdict !== null) problem(`is lifted by a proof that does not verify: ${verdict}`)
  else if (confirmBeforeMs > 0 && timeMs > confirmBeforeMs) problem('was lifted too late')
}

/** Returns why the proof does not verify; null when it does. */
async function judge(
  ownerHash: Uint8Array,
  message: Uint8Array,
  proof: Uint8Array,
  replay: Replay,
  power: Power | 'own' = 'enlarge',
): Promise<string | null> {
  const { registry } = replay
  try {
    const { persons } = replay.members
    const active =
      power === 'own'
        ? persons.ownAuthorizersOf(ownerHash)
        : persons.authorizersOf(ownerHash, power)
    const verdict = await verifyProof(decodeProof(proof), message, {
      authorizers: active,
      webauthn: registry.webauthn,
      softwareAuthorizer: registry.softwareAuthorizer,
      signCount: () => 0,
    })
    return verdict.ok ? null : verdict.reason
  } catch (error) {
    return wordsOf(error)
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function hex(bytes: Uint8Array): string {
  return viewOf(bytes).toString('hex')
}
