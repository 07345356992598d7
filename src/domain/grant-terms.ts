import { type ApiKey, keyExpiresAtMs } from './api-key.js'
import {
  type GrantedName,
  type GrantedPolicy,
  KEY_POLICY_FIELDS,
  type KeyPolicyField,
  type WireName,
} from './key-policy.js'
import { exceeds, lesser } from './key-policy-forms.js'

/**
 * What a key may do, in canonical form. The service enforces the caps; the other domain confirms
 * and records them.
 */
export interface GrantTerms extends GrantedPolicy {
  /** Milliseconds since the Unix epoch; null never expires. */
  readonly expiresAtMs: number | null
}

/** The fields of a grant that a change can enlarge; wire names. */
export type Enlargement = WireName<GrantedName> | 'expires_at'

export const GRANTED_FIELDS: readonly KeyPolicyField<GrantedName>[] = KEY_POLICY_FIELDS.filter(
  (field): field is KeyPolicyField<GrantedName> => field.grantForm !== null,
)

/** The grant of a key that may do nothing. */
export const LEAST_GRANT: GrantedPolicy = grantedPolicy(({ form }) => form.least)

/** @param valueFor returns the value of each field of a grant */
export function grantedPolicy(
  valueFor: (field: KeyPolicyField<GrantedName>) => unknown,
): GrantedPolicy {
  const values = GRANTED_FIELDS.map((field) => [field.name, valueFor(field)])
  return Object.fromEntries(values) as GrantedPolicy
}

/** @returns exactly the fields of a grant */
export function grantedOf(policy: GrantedPolicy): GrantedPolicy {
  return grantedPolicy(({ name }) => policy[name])
}

/** Returns the grant in the form in which it is signed. */
export function canonicalGrant(policy: GrantedPolicy): GrantedPolicy {
  return grantedPolicy(({ name, form }) => form.canonical(policy[name]))
}

/**
 * @returns the names of what `next` permits and `before` did not; empty when it permits the same or
 * less
 */
export function enlargements(before: GrantTerms, next: GrantTerms): Enlargement[] {
  const found: Enlargement[] = GRANTED_FIELDS.filter(({ name, form }) =>
    form.enlarges(before[name], next[name]),
  ).map(({ wire }) => wire as Enlargement)
  if (exceeds(before.expiresAtMs, next.expiresAtMs)) found.push('expires_at')
  return found.sort()
}

/** The terms that both permit. */
export function commonTerms(one: GrantTerms, other: GrantTerms): GrantTerms {
  return {
    ...commonPolicy(one, other),
    expiresAtMs: lesser(one.expiresAtMs, other.expiresAtMs),
  }
}

export function grantTermsOf(key: ApiKey): GrantTerms {
  return { ...canonicalGrant(key), expiresAtMs: keyExpiresAtMs(key) }
}

/**
 * Returns the key without what its successor may not do; the same object when that changes nothing.
 */
export function narrowedTo(key: ApiKey, successor: ApiKey): ApiKey {
  const next: ApiKey = { ...key, ...commonPolicy(key, successor) }
  return enlargements(grantTermsOf(next), grantTermsOf(key)).length === 0 ? key : next
}

function commonPolicy(one: GrantedPolicy, other: GrantedPolicy): GrantedPolicy {
  return grantedPolicy(({ name, form }) => form.common(one[name], other[name]))
}
