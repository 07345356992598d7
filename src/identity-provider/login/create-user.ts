import type { UserId } from '../../domain/ids.js'
import { createAccounts, type Invitation } from './accounts.js'
import { hasLoginStore, openLoginStore } from './login-store.js'

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
    return await (which === 'first' ? accounts.invite(email) : accounts.inviteAgain(email))
  } finally {
    await store.root.close()
  }
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
