import { POLICY_CODECS, plainPolicy } from '../../custody/authorizers/policy-codecs.js'
import { commonTerms, type GrantTerms, grantedOf, grantedPolicy } from '../../domain/grant-terms.js'
import type { GrantedName, GrantedPolicy } from '../../domain/key-policy.js'
import type { Policy } from '../../policy/policy.js'
import type { PolicyLedger } from '../../policy/policy-ledger.js'
import { sameBytes } from '../../quorum-protocol/bytes.js'

/** What the user side granted, and how its ledger keeps it. */

/**
 * What the keys of one lineage may do. The caps are the service's to hold; here they tell what
 * enlarges.
 */
export interface Grant extends GrantedPolicy {
  readonly walletId: Uint8Array
  readonly userId: string
  /** Counts up with every change. */
  readonly version: number
  /** The grant of the key that made this one, and which bounds it; null: the user made it. */
  readonly parentId: Uint8Array | null
  /** Keys of the lineage that are not revoked, the oldest first: what it made ends with the last. */
  readonly liveKeys: readonly Uint8Array[]
}

export interface GrantedKey {
  readonly grantId: Uint8Array
  /** Proof key sealed under the domain's data key; null: the key cannot prove itself. */
  readonly sealedProofKey: Uint8Array | null
  /** Milliseconds since the epoch; null does not expire. */
  readonly expiresAtMs: number | null
  readonly revoked: boolean
  /**
   * Of a key with a successor: what it may do at most, however its lineage's grant grows. Null: it
   * has what its lineage has.
   */
  readonly ceiling: GrantedPolicy | null
}

export interface GrantView {
  readonly key: GrantedKey
  readonly grant: Grant
}

/** Whether it is the last of its lineage, whose grant is its own. */
export function isHead(keyId: Uint8Array, { liveKeys }: Grant): boolean {
  const last = liveKeys.at(-1)
  return last !== undefined && sameBytes(last, keyId)
}

/** Whether another key of its lineage has come to take its place. */
export function hasSuccessor(keyId: Uint8Array, { key, grant }: GrantView): boolean {
  const place = grant.liveKeys.findIndex((one) => sameBytes(one, keyId))
  // Of a time before the list was kept: then no other key had an end.
  return place < 0 ? key.expiresAtMs !== null : place < grant.liveKeys.length - 1
}

export function withoutKey(grant: Grant, keyId: Uint8Array): Grant {
  return { ...grant, liveKeys: grant.liveKeys.filter((one) => !sameBytes(one, keyId)) }
}

/** What a key may do now: its lineage's grant, up to its own ceiling, until its own expiry. */
export function termsIn({ key, grant }: GrantView): GrantTerms {
  const { ceiling, expiresAtMs } = key
  const shared = { ...grantedOf(grant), expiresAtMs }
  return ceiling === null ? shared : commonTerms(shared, { ...ceiling, expiresAtMs })
}

export const NO_POLICIES: readonly Policy[] = []

/** What binds the calls of a key: its lineage's policy, and its own where it has a successor. */
export function policiesOf({ key, grant }: GrantView): readonly Policy[] {
  const shared = grant.policy
  const own = key.ceiling?.policy ?? null
  if (shared === null) return own === null ? NO_POLICIES : [own]
  return own === null ? [shared] : [shared, own]
}

/** What binds the keys of one lineage. */
export interface BoundUsage {
  /** Its lineage's, and the key's own where it has a successor. */
  readonly policies: readonly Policy[]
  /** Of its lineage, and of all that its keys made. */
  readonly usage: PolicyLedger
}

/** What binds a call of a key: its own policies, and those of the lineages above. */
export function pathOf(
  grantId: Uint8Array,
  policies: readonly Policy[],
  ancestors: readonly { readonly grantId: Uint8Array; readonly grant: Grant }[],
  ledger: { usage(grantId: Uint8Array): PolicyLedger },
): readonly (BoundUsage & { readonly grantId: Uint8Array })[] {
  return [
    { grantId, policies, usage: ledger.usage(grantId) },
    ...ancestors.map(({ grantId: above, grant }) => ({
      grantId: above,
      policies: grant.policy === null ? NO_POLICIES : [grant.policy],
      usage: ledger.usage(above),
    })),
  ]
}

type StoredPolicy = Readonly<Record<string, unknown>>
/** Grants of a time before keys made keys have no maker, and keep no list of their keys. */
export type StoredGrant = StoredPolicy &
  Pick<Grant, 'walletId' | 'userId' | 'version'> &
  Partial<Pick<Grant, 'parentId' | 'liveKeys'>>
/** Keys of a time before ceilings have none. */
export type StoredKey = Omit<GrantedKey, 'ceiling'> & { readonly ceiling?: StoredPolicy | null }

/** Where it is not the field's own. */
const STORED_NAMES: Partial<Record<GrantedName, string>> = { allowedChains: 'chains' }

export function storedGrant(grant: Grant): StoredGrant {
  const { walletId, userId, version, parentId, liveKeys, ...policy } = grant
  return { ...storedPolicy(policy), walletId, userId, version, parentId, liveKeys }
}

export function readGrant(stored: StoredGrant): Grant {
  const { walletId, userId, version, parentId = null, liveKeys = [] } = stored
  return { ...readPolicy(stored), walletId, userId, version, parentId, liveKeys }
}

export function storedKey(key: GrantedKey): StoredKey {
  return { ...key, ceiling: key.ceiling === null ? null : storedPolicy(key.ceiling) }
}

export function readKey(stored: StoredKey): GrantedKey {
  const ceiling = stored.ceiling ?? null
  return { ...stored, ceiling: ceiling === null ? null : readPolicy(ceiling) }
}

function storedPolicy(policy: GrantedPolicy): StoredPolicy {
  const plain = Object.entries(plainPolicy(policy)) as [GrantedName, unknown][]
  return Object.fromEntries(plain.map(([name, value]) => [STORED_NAMES[name] ?? name, value]))
}

/** What was granted before a field was there has the field's initial value. */
function readPolicy(stored: StoredPolicy): GrantedPolicy {
  return grantedPolicy(({ name, initial }) => {
    const plain = stored[STORED_NAMES[name] ?? name]
    return plain === undefined ? initial : POLICY_CODECS[name].fromPlain(plain)
  })
}
