import type { UserId } from '../../domain/ids.js'
import { createAccounts } from './accounts.js'
import { openLoginStore } from './login-store.js'

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
