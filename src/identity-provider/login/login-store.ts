import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Database, RootDatabase, RootDatabaseOptionsWithPath } from 'lmdb'
import type { AdapterPayload } from 'oidc-provider'
import { openRecorded } from '../../disk/recorded-writes.js'
import type { UserId } from '../../domain/ids.js'
import type { PersonIdSecret } from './person-ids.js'

export interface UserRecord {
  readonly userId: UserId
  /** The address that the person typed; lookups use its normalised form. */
  readonly email: string
  /** PHC string. */
  readonly passwordHash: string
  readonly createdAtMs: number
}

interface ArtifactRecord {
  readonly payload: AdapterPayload
  readonly expiresAtMs: number
}

/** A person whom the operator invited and who has not chosen a password yet. */
interface EnrolmentRecord {
  readonly userId: UserId
  readonly expiresAtMs: number
}

/** [model, id] of a session, grant, code or interaction. */
export type ArtifactKey = [model: string, id: string]

/**
 * Key spaces of the login: accounts, and what oidc-provider persists. One LMDB environment, so
 * that an artifact and its indexes change in one transaction.
 */
export interface LoginStore {
  readonly root: RootDatabase
  readonly users: Database<UserRecord, UserId>
  /** Normalised email → user. */
  readonly userIdByEmail: Database<UserId, string>
  /** One row, with the name `person-ids`. */
  readonly secrets: Database<PersonIdSecret, string>
  /** Hash of a one-time code → its user. */
  readonly enrolments: Database<EnrolmentRecord, string>
  readonly artifacts: Database<ArtifactRecord, ArtifactKey>
  /** Orders each model's artifacts by expiry, for sweeping and for eviction. */
  readonly artifactExpiry: Database<true, [model: string, expiresAtMs: number, id: string]>
  /** Session uid → session id. */
  readonly sessionIdByUid: Database<string, string>
  /** Artifacts that end with a grant. */
  readonly grantMembers: Database<true, [grantId: string, model: string, id: string]>
}

export const LOGIN_FILE = 'login.mdb'

/** Checks first, because opening the store would create it. */
export function hasLoginStore(dataDir: string): boolean {
  return existsSync(join(dataDir, LOGIN_FILE))
}

export function openLoginStore(dataDir: string): LoginStore {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const options: RootDatabaseOptionsWithPath & { path: string; permissionsMode: number } = {
    path: join(dataDir, LOGIN_FILE),
    noSubdir: true,
    maxDbs: 12,
    // With this, a put resolves once it is fsynced, not when it is merely visible.
    overlappingSync: false,
    // The file holds password hashes and sessions. lmdb-js has this option, but its types omit it.
    permissionsMode: 0o600,
  }
  const root = openRecorded(options)
  return {
    root,
    users: root.openDB({ name: 'users' }),
    userIdByEmail: root.openDB({ name: 'user-id-by-email' }),
    secrets: root.openDB({ name: 'secrets' }),
    enrolments: root.openDB({ name: 'enrolments' }),
    artifacts: root.openDB({ name: 'artifacts' }),
    artifactExpiry: root.openDB({ name: 'artifact-expiry' }),
    sessionIdByUid: root.openDB({ name: 'session-id-by-uid' }),
    grantMembers: root.openDB({ name: 'grant-members' }),
  }
}
