import { broughtElsewhere } from '../../disk/recorded-writes.js'
import type { UserId } from '../../domain/ids.js'
import { AccountRefusedError, createAccounts, type Invitation } from './accounts.js'
import { hasLoginStore, type LoginStore, openLoginStore } from './login-store.js'

/**
 * Lets the operator make an account; safe while the identity provider runs on the same data.
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
 * Lets the operator invite a person, who then chooses a password; safe as above.
 * @param which `first` makes the account; `again` issues a new code for an existing one
 * @throws AccountRefusedError when the email is malformed, taken, or unknown
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
    // An earlier code of that person may already be in the store.
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

/** How long a running identity provider may take to put the account into its journal. */
const BROUGHT_MS = 3_000

/** @throws Error when a standby undid the write: only the leader writes the journal */
async function requireKept({ root }: LoginStore, isThere: () => boolean): Promise<void> {
  await broughtElsewhere(root, BROUGHT_MS)
  root.resetReadTxn()
  if (isThere()) return
  throw new AccountRefusedError(
    "this identity provider is a standby, so the account was not kept: run this command in the leader's home (see `countersign cluster status --domain user`)",
  )
}

interface ListedUser {
  readonly userId: UserId
  readonly email: string
  readonly createdAtMs: number
}

/** Lists all accounts without their secrets; safe as above. It creates no store. */
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
