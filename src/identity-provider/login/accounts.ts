import { randomBytes } from 'node:crypto'
import { type UserId, ulidBody } from '../../domain/ids.js'
import type { LoginStore, UserRecord } from './login-store.js'
import {
  hashPassword,
  PASSWORD_LENGTH_MAX,
  PASSWORD_LENGTH_MIN,
  type PasswordCaller,
  verifyPassword,
} from './password-hash.js'

/** RFC 5321, section 4.5.3.1.3, less the angle brackets. */
const EMAIL_LENGTH_MAX = 254
const EMAIL = /^[^\s@<>"]+@[^\s@<>"]+$/

/** Why an account was not made; the message is for the operator and names no secret. */
export class AccountRefusedError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'AccountRefusedError'
  }
}

/** What the login may know about people. Writes are durable when they resolve. */
export interface Accounts {
  /** @throws AccountRefusedError when the email is malformed or taken, or the password unfit */
  create(email: string, password: string): Promise<UserRecord>
  /** Makes the account, or gives the existing one this password. */
  ensure(email: string, password: string): Promise<UserRecord>
  findById(userId: string): UserRecord | undefined
  /**
   * Null when the pair is wrong. Takes as long for an unknown email as for a known one.
   * @throws PasswordQueueFullError
   */
  authenticate(email: string, password: string, caller: PasswordCaller): Promise<UserRecord | null>
}

export function createAccounts(store: LoginStore): Accounts {
  // Compared against when the email is unknown, so that timing does not tell who has an account.
  let decoyHash: Promise<string> | undefined

  async function put(record: UserRecord, emailKey: string): Promise<void> {
    await store.root.transaction(() => {
      // Checked again inside the write transaction: another process may have made it meanwhile.
      const owner = store.userIdByEmail.get(emailKey)
      if (owner !== undefined && owner !== record.userId) {
        throw new AccountRefusedError('an account with this email exists')
      }
      void store.users.put(record.userId, record)
      void store.userIdByEmail.put(emailKey, record.userId)
    })
  }

  function findByEmail(emailKey: string): UserRecord | undefined {
    const userId = store.userIdByEmail.get(emailKey)
    return userId === undefined ? undefined : store.users.get(userId)
  }

  return {
    async create(email, password) {
      const emailKey = requireEmail(email)
      requirePassword(password)
      if (findByEmail(emailKey) !== undefined) {
        throw new AccountRefusedError('an account with this email exists')
      }
      const now = Date.now()
      const record: UserRecord = {
        userId: `user_${ulidBody(now, randomBytes(10))}` as UserId,
        email: email.trim(),
        passwordHash: await hashPassword(password),
        createdAtMs: now,
      }
      await put(record, emailKey)
      return record
    },

    async ensure(email, password) {
      const emailKey = requireEmail(email)
      const existing = findByEmail(emailKey)
      if (existing === undefined) return this.create(email, password)
      if (await verifyPassword(password, existing.passwordHash, 'known')) return existing
      requirePassword(password)
      const record = { ...existing, passwordHash: await hashPassword(password) }
      await put(record, emailKey)
      return record
    },

    findById: (userId) => store.users.get(userId as UserId),

    async authenticate(email, password, caller) {
      const emailKey = normaliseEmail(email)
      const record = emailKey === null ? undefined : findByEmail(emailKey)
      if (password.length > PASSWORD_LENGTH_MAX) return null
      decoyHash ??= hashPassword(randomBytes(16).toString('hex'))
      const stored = record?.passwordHash ?? (await decoyHash)
      const matches = await verifyPassword(password, stored, caller)
      return matches && record !== undefined ? record : null
    },
  }
}

/** Lower case and NFC; null when it cannot be an email address. */
export function normaliseEmail(email: string): string | null {
  const trimmed = email.trim()
  if (trimmed.length > EMAIL_LENGTH_MAX || !EMAIL.test(trimmed)) return null
  return trimmed.normalize('NFC').toLowerCase()
}

function requireEmail(email: string): string {
  const emailKey = normaliseEmail(email)
  if (emailKey === null) throw new AccountRefusedError('the email address is malformed')
  return emailKey
}

function requirePassword(password: string): void {
  if (password.length < PASSWORD_LENGTH_MIN || password.length > PASSWORD_LENGTH_MAX) {
    throw new AccountRefusedError(
      `the password must have ${PASSWORD_LENGTH_MIN} to ${PASSWORD_LENGTH_MAX} characters`,
    )
  }
}
