import { AUDIENCE } from '../env.js'

/** The account that this tab shows; other tabs may show another. Null for the person's own. */
const ACCOUNT_KEY = 'countersign:account'

function chosenAccount(): string | null {
  return sessionStorage.getItem(ACCOUNT_KEY)
}

export function chooseAccount(accountId: string | null): void {
  if (accountId === null) sessionStorage.removeItem(ACCOUNT_KEY)
  else sessionStorage.setItem(ACCOUNT_KEY, accountId)
}

/**
 * The resource that a token is requested for (RFC 8707); it names the account if that is not the
 * person's own.
 */
export function resourceWanted(): string {
  const account = chosenAccount()
  return account === null ? AUDIENCE : `${AUDIENCE}?account=${account}`
}
