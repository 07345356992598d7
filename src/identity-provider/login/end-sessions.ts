import { hasLoginStore, openLoginStore } from './login-store.js'

/**
 * Ends every session and sign-in under way, and every link to choose a password with: a store that
 * was restored would let in by those that were ended or used since.
 * @param dataDir the identity provider's data directory; it must not be running
 */
export async function endSessions(dataDir: string): Promise<void> {
  if (!hasLoginStore(dataDir)) return
  const store = openLoginStore(dataDir)
  try {
    await store.root.transaction(() => {
      store.enrolments.clearSync()
      store.artifacts.clearSync()
      store.artifactExpiry.clearSync()
      store.sessionIdByUid.clearSync()
      store.grantMembers.clearSync()
    })
  } finally {
    await store.root.close()
  }
}
