import { hasLoginStore, openLoginStore } from './login-store.js'

/**
 * Ends every session, pending sign-in and password link: a restored store would otherwise accept
 * those that were ended or used after the backup.
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
