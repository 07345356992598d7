import { errors } from 'oidc-provider'
import { ACCOUNT_CLAIM, ROLE_CLAIM, type Role } from '../../domain/role.js'

/**
 * Marks a token's account. A client appends this and the account's id to the audience in the
 * resource that it requests; without it the token is for the person's own account.
 */
const ACCOUNT_QUERY = '?account='
/** Covers the ids that this login makes, and what other issuers may call a person. */
const ACCOUNT = /^[\w.@:|-]{1,255}$/

/** Tells the login what roles a person has. */
export interface Memberships {
  /** Null when the person is not a member. */
  roleOf(accountId: string, personId: string): Role | null
  /** Returns the accounts that the person is a member of. */
  membershipsOf(personId: string): readonly { readonly accountId: string; readonly role: Role }[]
}

/**
 * A field of a refused token request: the accounts that the person may have, for the console to
 * offer.
 */
export const ACCOUNTS_FIELD = 'countersign_accounts'

/**
 * Offers other accounts to a person who left the requested one or was removed from it. Only a
 * holder of the person's code and its verifier sees them.
 */
export class NoPlaceError extends errors.InvalidGrant {
  override error_description = 'you are not a member of this account'
  /** Empty when the person has no account. Null while the ledger is not open yet. */
  readonly accounts: readonly { readonly account_id: string; readonly role: Role }[] | null

  constructor(memberships: Memberships | null, personId: string) {
    super('no member of the account')
    const places = memberships?.membershipsOf(personId)
    this.accounts = places?.map(({ accountId, role }) => ({ account_id: accountId, role })) ?? null
  }
}

/** Returns null for a resource without an account. */
export function accountOf(resource: string, audience: string): string | null {
  const prefix = `${audience}${ACCOUNT_QUERY}`
  if (!resource.startsWith(prefix)) return null
  const account = resource.slice(prefix.length)
  return ACCOUNT.test(account) ? account : null
}

/**
 * Returns the claims that a token has besides its subject.
 * @param resource the resource that was requested
 * @returns null when the person is not a member of the account
 */
export function accountClaims(
  personId: string,
  resource: string,
  audience: string,
  memberships: Memberships | null,
): Readonly<Record<string, string>> | null {
  const account = accountOf(resource, audience)
  // Until the ledger is open, only a person's own account. Every use of the token is judged
  // again.
  if (memberships === null) return account === null ? {} : null
  const role = memberships.roleOf(account ?? personId, personId)
  if (role === null) return null
  return account === null ? {} : { [ACCOUNT_CLAIM]: account, [ROLE_CLAIM]: role }
}
