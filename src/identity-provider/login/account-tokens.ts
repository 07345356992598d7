import { errors } from 'oidc-provider'
import { ACCOUNT_CLAIM, ROLE_CLAIM, type Role } from '../../domain/role.js'

/**
 * Which account a token is for. A client names it with the resource that it asks a token for, the
 * audience followed by this; without it the token is for the person's own account.
 */
const ACCOUNT_QUERY = '?account='
/** As in the ids that this login makes, and in what other issuers may call a person. */
const ACCOUNT = /^[\w.@:|-]{1,255}$/

/** Where the login asks what a person is in an account. */
export interface Memberships {
  /** Null: no member. */
  roleOf(accountId: string, personId: string): Role | null
  /** Accounts that the person is a member of. */
  membershipsOf(personId: string): readonly { readonly accountId: string; readonly role: Role }[]
}

/** Of an answer that gives no token: where the person may have one, for the console to offer. */
export const ACCOUNTS_FIELD = 'countersign_accounts'

/**
 * Who asks for the account that they left, or were removed from, is not at a dead end. Told to the
 * person alone: whoever has a code of theirs, and its verifier.
 */
export class NoPlaceError extends errors.InvalidGrant {
  override error_description = 'you have no place in this account, or none any more'
  /** Empty: the person is in no account at all. Null: the ledger is not there yet to say. */
  readonly accounts: readonly { readonly account_id: string; readonly role: Role }[] | null

  constructor(memberships: Memberships | null, personId: string) {
    super('no member of the account')
    const places = memberships?.membershipsOf(personId)
    this.accounts = places?.map(({ accountId, role }) => ({ account_id: accountId, role })) ?? null
  }
}

/** Null of a resource that names none. */
export function accountOf(resource: string, audience: string): string | null {
  const prefix = `${audience}${ACCOUNT_QUERY}`
  if (!resource.startsWith(prefix)) return null
  const account = resource.slice(prefix.length)
  return ACCOUNT.test(account) ? account : null
}

/**
 * What a token says besides who it is of.
 * @param resource that it was asked for
 * @returns null where the person has no place in the account, or none any more
 */
export function accountClaims(
  personId: string,
  resource: string,
  audience: string,
  memberships: Memberships | null,
): Readonly<Record<string, string>> | null {
  const account = accountOf(resource, audience)
  // Until the ledger is there, a person's own account alone; what counts is judged at each use.
  if (memberships === null) return account === null ? {} : null
  const role = memberships.roleOf(account ?? personId, personId)
  if (role === null) return null
  return account === null ? {} : { [ACCOUNT_CLAIM]: account, [ROLE_CLAIM]: role }
}
