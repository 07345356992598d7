import { verifyEntry } from '../../custody/authorizers/authorizer-set.js'
import type { AuthorizerStore } from '../../custody/authorizers/authorizer-store.js'
import {
  type AuthorizerEntry,
  decodeCertificate,
  encodeEntry,
  entryMessage,
} from '../../custody/authorizers/certificate.js'
import { type GrantStatement, grantMessage } from '../../custody/authorizers/grant-statement.js'
import type { GrantEvidence, MemberEvidence } from '../../custody/evidence/evidence-records.js'
import type { Dated, ReadEvidence } from '../../custody/evidence/read-evidence.js'
import { EVIDENCE_KIND } from '../../custody/evidence/stored-evidence.js'
import { enlargements, grantedOf } from '../../domain/grant-terms.js'
import { concat, viewOf } from '../../quorum-protocol/bytes.js'
import { verifyP256 } from '../../quorum-protocol/p256.js'
import type { Registry } from '../../quorum-protocol/registry.js'
import type { RecordedAuthorizers } from '../authorizers/recorded-authorizers.js'
import { isConfirmed } from './fence-confirmed.js'
import { forgetMembers, replayMember } from './fence-members.js'
import { type Grant, type GrantedKey, isHead, termsIn, withoutKey } from './granted.js'
import type { LedgerStore } from './ledger-store.js'
import type { RecordedChanges } from './recorded-changes.js'

/**
 * Counts the grants and authorizers that a restored identity provider learned from the evidence.
 */
export interface ReplayedAuthority {
  readonly authorizers: number
  /** Invitations, changes of role and removals. */
  readonly members: number
  readonly revocations: number
  /** Changes that took away, and those that an authorizer confirmed. */
  readonly changes: number
  /** Enlargements that stay lost: the users have to confirm them again. */
  readonly unconfirmed: number
  /** Keys made since the backup: only the lost store had their proof keys. */
  readonly unknownKeys: number
}

export interface AuthorityStores {
  readonly ledger: LedgerStore
  readonly authorizers: AuthorizerStore
  /** Writes to that store. */
  readonly recorded: RecordedAuthorizers
  /** Writes to the ledger. */
  readonly changes: RecordedChanges
}

/** The identity provider's own log, if it still exists. */
export interface OwnLog {
  readonly evidence: ReadEvidence
  /** False for the log of a backup, which lacks everything after it. */
  readonly isWhole: boolean
}

type Counts = { -readonly [name in keyof ReplayedAuthority]: ReplayedAuthority[name] }

interface Replay extends AuthorityStores {
  readonly registry: Registry
  /**
   * The entries of the identity provider's own log, in hex: they are not logged again, and they are
   * trusted.
   */
  readonly ownBodies: ReadonlySet<string>
  readonly counts: Counts
  /** The version that the backup has, by grant id in hex; changes up to it are known. */
  readonly versions: Map<string, number>
}

type Step = { readonly timeMs: number; readonly body: Buffer } & (
  | { readonly entry: AuthorizerEntry }
  | { readonly grant: GrantEvidence }
  | { readonly member: MemberEvidence }
)

/**
 * Replays grants and authorizers. The service's log may only take away: each domain may revoke, but
 * neither can enlarge by itself. An enlargement therefore counts only from the identity provider's
 * own log, with its proof. Authorizers carry the identity provider's signature in every log.
 * @param own null when it is lost
 * @throws Error when an authorizer in a log is not genuine
 */
export async function replayAuthority(
  stores: AuthorityStores,
  own: OwnLog | null,
  service: ReadEvidence,
  registry: Registry,
): Promise<ReplayedAuthority> {
  const knowsMembers = own?.isWhole === true
  if (!knowsMembers) await forgetMembers(stores.ledger)
  const ownSteps = own === null ? [] : stepsOf(own.evidence)
  if (knowsMembers) ownSteps.push(...memberStepsOf(own.evidence))
  const ownBodies = new Set(ownSteps.map(({ body }) => hex(body)))
  const others = stepsOf(service).filter(({ body }) => !ownBodies.has(hex(body)))
  const counts = {
    authorizers: 0,
    members: 0,
    revocations: 0,
    changes: 0,
    unconfirmed: 0,
    unknownKeys: 0,
  }
  const replay: Replay = { ...stores, registry, ownBodies, counts, versions: new Map() }
  const unknownKeys = new Set<string>()
  for (const step of [...ownSteps, ...others].sort((a, b) => a.timeMs - b.timeMs)) {
    if ('entry' in step) await replayAuthorizer(step.entry, step, replay)
    else if ('member' in step) {
      if (await replayMember(step.member, step.timeMs, stores, registry)) counts.members++
    } else if (stores.ledger.key(step.grant.statement.keyId) !== null) {
      await replayGrant(step.grant, step, replay)
    } else unknownKeys.add(hex(step.grant.statement.keyId))
  }
  return { ...counts, unknownKeys: unknownKeys.size }
}

function stepsOf({ authorizers, grants }: ReadEvidence): Step[] {
  const entries = authorizers.map(({ timeMs, value }: Dated<AuthorizerEntry>) => ({
    timeMs,
    body: encodeEntry(value),
    entry: value,
  }))
  const changes = grants.map(({ timeMs, value }: Dated<GrantEvidence>) => ({
    timeMs,
    body: concat(value.encoded, value.proof),
    grant: value,
  }))
  return [...entries, ...changes]
}

function memberStepsOf({ members }: ReadEvidence): Step[] {
  return members.map(({ timeMs, value }) => ({
    timeMs,
    body: concat(value.encoded, value.proof),
    member: value,
  }))
}

async function replayAuthorizer(
  entry: AuthorizerEntry,
  step: Step,
  { registry, authorizers, recorded, ownBodies, counts }: Replay,
): Promise<void> {
  const { ownerHash, sequence, createdAtMs } = decodeCertificate(entry.certificate)
  const present = authorizers.setOf(ownerHash)
  if (sequence <= present.sequence) return
  const message = entryMessage(entry)
  const approvers = registry.keysOf('approvers', createdAtMs)
  if (!approvers.some((key) => verifyP256(key, message, entry.userSignature))) {
    throw new Error(`an authorizer in the evidence is not signed by the identity provider`)
  }
  const { webauthn, root } = registry
  const context = { webauthn, root, signCount: () => 0 }
  const { signCounts } = await verifyEntry(present, entry, context)
  const kept = ownBodies.has(hex(step.body)) ? authorizers : recorded
  await kept.append(ownerHash, sequence, entry)
  for (const { authorizerId, signCount } of signCounts) {
    await authorizers.raiseSignCount(authorizerId, signCount)
  }
  counts.authorizers++
}

async function replayGrant(
  { statement, encoded, proof }: GrantEvidence,
  step: Step,
  replay: Replay,
): Promise<void> {
  const { ledger, changes, ownBodies, counts, versions } = replay
  const key = ledger.key(statement.keyId)
  const grant = key === null ? null : ledger.grant(key.grantId)
  if (key === null || grant === null || key.revoked) return
  const known = versions.get(hex(key.grantId)) ?? grant.version
  versions.set(hex(key.grantId), known)
  if (!statement.revoked && statement.version <= known) return
  const isOwn = ownBodies.has(hex(step.body))
  const next = changed(statement, key, grant)
  if (
    next.effect === 'enlarges' &&
    !(isOwn && (await isProven(statement, encoded, proof, replay)))
  ) {
    counts.unconfirmed++
    // The version rises in any case, so that no earlier proof is valid for the next change.
    const skipped = { ...grant, version: Math.max(grant.version, statement.version) }
    await ledger.commit((writer) => writer.putGrant(Buffer.from(key.grantId), skipped)).flushed
    return
  }
  await changes.commit((writer) => {
    writer.putGrant(Buffer.from(key.grantId), next.grant)
    writer.putKey(Buffer.from(statement.keyId), next.key)
    const { body } = step
    const entry = isOwn ? null : { timeMs: Date.now(), kind: EVIDENCE_KIND.grant, body }
    return { result: null, entry }
  }).recorded
  if (statement.revoked) counts.revocations++
  else counts.changes++
}

interface Changed {
  readonly effect: 'enlarges' | 'narrows'
  readonly key: GrantedKey
  readonly grant: Grant
}

function changed(statement: GrantStatement, key: GrantedKey, grant: Grant): Changed {
  const { expiresAtMs } = statement
  if (statement.revoked) {
    const ended = { ...key, expiresAtMs, sealedProofKey: null, revoked: true }
    return { effect: 'narrows', key: ended, grant: withoutKey(grant, statement.keyId) }
  }
  const before = termsIn({ key, grant })
  const isMore = enlargements(before, statement).length > 0 || statement.proofKeyDigest !== null
  const terms = grantedOf(statement)
  const version = Math.max(grant.version, statement.version)
  // Judged as when it was put: a key with an end has a successor, to which the lineage's grant
  // belongs.
  const ofKeyAlone = expiresAtMs !== null && !isMore && !isHead(statement.keyId, grant)
  return {
    effect: isMore ? 'enlarges' : 'narrows',
    key: { ...key, expiresAtMs, ceiling: ofKeyAlone ? terms : null },
    grant: ofKeyAlone ? { ...grant, version } : { ...grant, ...terms, version },
  }
}

async function isProven(
  statement: GrantStatement,
  encoded: Uint8Array,
  proof: Uint8Array,
  replay: Replay,
): Promise<boolean> {
  if (statement.proofKeyDigest !== null) return false
  return isConfirmed(statement.ownerHash, grantMessage(encoded), proof, replay, replay.registry)
}

function hex(bytes: Uint8Array): string {
  return viewOf(bytes).toString('hex')
}
