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
 * What a key may do, in canonical form. The caps are the service's to hold; elsewhere they are
 * confirmed and recorded.
 */
export interface GrantTerms extends GrantedPolicy {
  /** Milliseconds since the epoch; null does not expire. */
  readonly expiresAtMs: number | null
}

/** What of a grant a change can enlarge; wire names. */
export type Enlargement = WireName<GrantedName> | 'expires_at'

export const GRANTED_FIELDS: readonly KeyPolicyField<GrantedName>[] = KEY_POLICY_FIELDS.filter(
  (field): field is KeyPolicyField<GrantedName> => field.grantForm !== null,
)

/** A key that may do nothing. */
export const LEAST_GRANT: GrantedPolicy = grantedPolicy(({ form }) => form.least)

/** @param valueFor of each field that a grant has */
export function grantedPolicy(
  valueFor: (field: KeyPolicyField<GrantedName>) => unknown,
): GrantedPolicy {
  const values = GRANTED_FIELDS.map((field) => [field.name, valueFor(field)])
  return Object.fromEntries(values) as GrantedPolicy
}

/** @returns what a grant has of it and nothing else */
export function grantedOf(policy: GrantedPolicy): GrantedPolicy {
  return grantedPolicy(({ name }) => policy[name])
}

/** The same, in the form in which it is signed. */
export function canonicalGrant(policy: GrantedPolicy): GrantedPolicy {
  return grantedPolicy(({ name, form }) => form.canonical(policy[name]))
}

/**
 * @returns what `next` gives that `before` did not, by name; empty when it leaves things or takes
 * away
 */
export function enlargements(before: GrantTerms, next: GrantTerms): Enlargement[] {
  const found: Enlargement[] = GRANTED_FIELDS.filter(({ name, form }) =>
    form.enlarges(before[name], next[name]),
  ).map(({ wire }) => wire as Enlargement)
  if (exceeds(before.expiresAtMs, next.expiresAtMs)) found.push('expires_at')
  return found.sort()
}

/** What both allow. */
export function commonTerms(one: GrantTerms, other: GrantTerms): GrantTerms {
  return {
    ...commonPolicy(one, other),
    expiresAtMs: lesser(one.expiresAtMs, other.expiresAtMs),
  }
}

export function grantTermsOf(key: ApiKey): GrantTerms {
  return { ...canonicalGrant(key), expiresAtMs: keyExpiresAtMs(key) }
}

/** The key with nothing that its successor does not have; the very same where there is none. */
export function narrowedTo(key: ApiKey, successor: ApiKey): ApiKey {
  const next: ApiKey = { ...key, ...commonPolicy(key, successor) }
  return enlargements(grantTermsOf(next), grantTermsOf(key)).length === 0 ? key : next
}

function commonPolicy(one: GrantedPolicy, other: GrantedPolicy): GrantedPolicy {
  return grantedPolicy(({ name, form }) => form.common(one[name], other[name]))
}
