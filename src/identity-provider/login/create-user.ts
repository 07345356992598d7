import { broughtElsewhere } from '../../disk/recorded-writes.js'
import type { UserId } from '../../domain/ids.js'
import { AccountRefusedError, createAccounts, type Invitation } from './accounts.js'
import { hasLoginStore, type LoginStore, openLoginStore } from './login-store.js'

/**
 * The operator's way to make an account; safe while the identity provider runs on the same data.
 * @param dataDir the identity provider's data directory
 * @throws AccountRefusedError when the email is malformed or taken, or the password unfit
 */
export async function createUser(
  dataDir: string,
  email: string,
  password: string,
): Promise<{ userId: UserId; email: string }> {
  const store = openLoginStore(dataDir)
  try {
    const user = await createAccounts(store).create(email, password)
    await requireKept(store, () => store.users.get(user.userId) !== undefined)
    return { userId: user.userId, email: user.email }
  } finally {
    await store.root.close()
  }
}

/**
 * The operator's way to let a person in, who chooses the password; safe as above.
 * @param which `first` makes the account; `again` is for one that exists
 * @throws AccountRefusedError when the email is malformed, taken, or not known
 */
export async function inviteUser(
  dataDir: string,
  email: string,
  which: 'first' | 'again',
): Promise<Invitation> {
  const store = openLoginStore(dataDir)
  try {
    const accounts = createAccounts(store)
    const made = await (which === 'first' ? accounts.invite(email) : accounts.inviteAgain(email))
    // An earlier code of that person may be there from elsewhere.
    const isThere = () =>
      [...store.enrolments.getRange()].some(
        ({ value: { userId, expiresAtMs } }) =>
          userId === made.user.userId && expiresAtMs === made.expiresAtMs,
      )
    await requireKept(store, isThere)
    return made
  } finally {
    await store.root.close()
  }
}

/** Of an identity provider with a journal, for that to have it; one that is stopped has time. */
const BROUGHT_MS = 3_000

/** @throws Error where it was taken back, since the journal is another home's to write */
async function requireKept({ root }: LoginStore, isThere: () => boolean): Promise<void> {
  await broughtElsewhere(root, BROUGHT_MS)
  root.resetReadTxn()
  if (isThere()) return
  throw new AccountRefusedError(
    'the identity provider of this home is a standby, which follows what another one writes: say this at the home of its owner (countersign cluster status --domain user)',
  )
}

export interface ListedUser {
  readonly userId: UserId
  readonly email: string
  readonly createdAtMs: number
}

/** All accounts, without what proves who they are; safe as above. Where there is no store, none is made. */
export async function listUsers(dataDir: string): Promise<ListedUser[]> {
  if (!hasLoginStore(dataDir)) return []
  const store = openLoginStore(dataDir)
  try {
    return [...store.users.getRange()].map(({ value: { userId, email, createdAtMs } }) => ({
      userId,
      email,
      createdAtMs,
    }))
  } finally {
    await store.root.close()
  }
}
