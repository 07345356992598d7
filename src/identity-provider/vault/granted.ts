import { commonTerms, type GrantTerms, grantedOf, grantedPolicy } from '../../domain/grant-terms.js'
import type { GrantedName, GrantedPolicy } from '../../domain/key-policy.js'
import type { Policy } from '../../policy/policy.js'
import type { PolicyLedger } from '../../policy/policy-ledger.js'
import { sameBytes } from '../../quorum-protocol/bytes.js'
import { POLICY_CODECS, plainPolicy } from '../../quorum-protocol/policy-codecs.js'

/** Grants, and how the identity provider's ledger stores them. */

/**
 * What the keys of one lineage may do. The service enforces the caps; here they only show which
 * changes enlarge.
 */
export interface Grant extends GrantedPolicy {
  readonly walletId: Uint8Array
  readonly userId: string
  /** Increases with every change. */
  readonly version: number
  /** The grant of the key that made this one, which bounds it; null when the user made it. */
  readonly parentId: Uint8Array | null
  /**
   * The lineage's keys that are not revoked, oldest first. The keys that it made end with its last
   * key.
   */
  readonly liveKeys: readonly Uint8Array[]
}

export interface GrantedKey {
  readonly grantId: Uint8Array
  /** The proof key, sealed under the domain's data key; null when the key cannot prove itself. */
  readonly sealedProofKey: Uint8Array | null
  /** Milliseconds since the epoch; null when it does not expire. */
  readonly expiresAtMs: number | null
  readonly revoked: boolean
  /**
   * The most that a key with a successor may do, however its lineage's grant grows. Null when the
   * key has what its lineage has.
   */
  readonly ceiling: GrantedPolicy | null
}

export interface GrantView {
  readonly key: GrantedKey
  readonly grant: Grant
}

/** Tells whether it is the newest key of its lineage, to which the grant belongs. */
export function isHead(keyId: Uint8Array, { liveKeys }: Grant): boolean {
  const last = liveKeys.at(-1)
  return last !== undefined && sameBytes(last, keyId)
}

/** Tells whether another key of its lineage has replaced it. */
export function hasSuccessor(keyId: Uint8Array, { key, grant }: GrantView): boolean {
  const place = grant.liveKeys.findIndex((one) => sameBytes(one, keyId))
  // Older grants keep no list; then only a replaced key had an end.
  return place < 0 ? key.expiresAtMs !== null : place < grant.liveKeys.length - 1
}

export function withoutKey(grant: Grant, keyId: Uint8Array): Grant {
  return { ...grant, liveKeys: grant.liveKeys.filter((one) => !sameBytes(one, keyId)) }
}

/** Returns what a key may do now: its lineage's grant, bounded by its own ceiling and expiry. */
export function termsIn({ key, grant }: GrantView): GrantTerms {
  const { ceiling, expiresAtMs } = key
  const shared = { ...grantedOf(grant), expiresAtMs }
  return ceiling === null ? shared : commonTerms(shared, { ...ceiling, expiresAtMs })
}

export const NO_POLICIES: readonly Policy[] = []

/**
 * Returns the policies that bind a key's calls: its lineage's, and its own when it has a successor.
 */
export function policiesOf({ key, grant }: GrantView): readonly Policy[] {
  const shared = grant.policy
  const own = key.ceiling?.policy ?? null
  if (shared === null) return own === null ? NO_POLICIES : [own]
  return own === null ? [shared] : [shared, own]
}

/** The policies and usage that bind the keys of one lineage. */
export interface BoundUsage {
  /** The lineage's policy, and the key's own when it has a successor. */
  readonly policies: readonly Policy[]
  /** The usage of the lineage and of all keys that it made. */
  readonly usage: PolicyLedger
}

/** Returns what binds a call of a key: its own policies and those of the lineages above. */
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
/** Grants from before keys could make keys have no maker and no list of keys. */
export type StoredGrant = StoredPolicy &
  Pick<Grant, 'walletId' | 'userId' | 'version'> &
  Partial<Pick<Grant, 'parentId' | 'liveKeys'>>
/** Keys from before ceilings existed have none. */
export type StoredKey = Omit<GrantedKey, 'ceiling'> & { readonly ceiling?: StoredPolicy | null }

/** Stored names that differ from the field's. */
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

/** Grants from before a field existed get the field's initial value. */
function readPolicy(stored: StoredPolicy): GrantedPolicy {
  return grantedPolicy(({ name, initial }) => {
    const plain = stored[STORED_NAMES[name] ?? name]
    return plain === undefined ? initial : POLICY_CODECS[name].fromPlain(plain)
  })
}
