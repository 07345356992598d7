import { AUDIENCE } from '../env.js'

/** The account that this tab is about; others may be about another. Null: the person's own. */
const ACCOUNT_KEY = 'countersign:account'

export function chosenAccount(): string | null {
  return sessionStorage.getItem(ACCOUNT_KEY)
}

export function chooseAccount(accountId: string | null): void {
  if (accountId === null) sessionStorage.removeItem(ACCOUNT_KEY)
  else sessionStorage.setItem(ACCOUNT_KEY, accountId)
}

/** What a token is asked for (RFC 8707): it names the account, where that is not the person's own. */
export function resourceWanted(): string {
  const account = chosenAccount()
  return account === null ? AUDIENCE : `${AUDIENCE}?account=${account}`
}
