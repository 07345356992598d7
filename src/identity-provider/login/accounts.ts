import { createHash, randomBytes } from 'node:crypto'
import type { UserId } from '../../domain/ids.js'
import type { LoginStore, UserRecord } from './login-store.js'
import {
  hashPassword,
  PASSWORD_LENGTH_MAX,
  PASSWORD_LENGTH_MIN,
  type PasswordCaller,
  verifyPassword,
} from './password-hash.js'
import { drawPersonIdSecret, type PersonIdSecret, personIdOf } from './person-ids.js'

/** RFC 5321, section 4.5.3.1.3, less the angle brackets. */
const EMAIL_LENGTH_MAX = 254
const EMAIL = /^[^\s@<>"]+@[^\s@<>"]+$/

/** An account that was not made. The message is for the operator and contains no secret. */
export class AccountRefusedError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'AccountRefusedError'
  }
}

/** The login's accounts. Writes are durable when they resolve. */
export interface Accounts {
  /** @throws AccountRefusedError when the email is malformed or taken, or the password unfit */
  create(email: string, password: string): Promise<UserRecord>
  /**
   * Makes an account that nobody can sign in to until its code is redeemed.
   * @throws AccountRefusedError when the email is malformed or taken
   */
  invite(email: string): Promise<Invitation>
  /**
   * Issues a new code for an existing account. Earlier codes end; the password stays until the new
   * code is redeemed.
   * @throws AccountRefusedError when there is no such account
   */
  inviteAgain(email: string): Promise<Invitation>
  /**
   * Gives the code's account this password and ends its sessions. A code works once.
   * @throws AccountRefusedError when the code is unknown, used or expired, or the password unfit
   */
  redeem(code: string, password: string): Promise<UserRecord>
  /** Makes the account, or gives the existing one this password. */
  ensure(email: string, password: string): Promise<UserRecord>
  findById(userId: string): UserRecord | undefined
  findByEmail(email: string): UserRecord | undefined
  /**
   * The person who signs in by this address, or who will once the operator makes the account.
   * Null when it is no email address.
   */
  personByEmail(email: string): Promise<{ userId: UserId; emailKey: string } | null>
  /**
   * Null when the pair is wrong. Takes as long for an unknown email as for a known one.
   * @throws PasswordQueueFullError
   */
  authenticate(email: string, password: string, caller: PasswordCaller): Promise<UserRecord | null>
}

export interface Invitation {
  readonly user: UserRecord
  /** The only copy: the store keeps its hash. */
  readonly code: string
  readonly expiresAtMs: number
}

/** Long enough to reach a person in another time zone. */
const INVITATION_MS = 24 * 3_600_000
const CODE_BYTES = 24
const PERSON_IDS = 'person-ids'
const NO_SUCH_CODE = 'this code is not known, was used, or has expired; ask for a new one'

/** @param endSessionsOf signs a person out everywhere, within a transaction of the store */
export function createAccounts(
  store: LoginStore,
  endSessionsOf: (userId: UserId) => void = () => {},
): Accounts {
  // An unknown email is compared against this hash, so that timing does not reveal who has an
  // account.
  let decoyHash: Promise<string> | undefined

  /** Drawn when it is first needed; whichever process is first. */
  async function personIds(): Promise<PersonIdSecret> {
    const known = store.secrets.get(PERSON_IDS)
    if (known !== undefined) return known
    return store.root.transaction(() => {
      const drawn = store.secrets.get(PERSON_IDS) ?? drawPersonIdSecret(Date.now())
      void store.secrets.put(PERSON_IDS, drawn)
      return drawn
    })
  }

  async function put(record: UserRecord, emailKey: string): Promise<void> {
    await store.root.transaction(() => {
      // Checked again inside the write transaction, because another process may have made it.
      const owner = store.userIdByEmail.get(emailKey)
      if (owner !== undefined && owner !== record.userId) {
        throw new AccountRefusedError('an account with this email exists')
      }
      void store.users.put(record.userId, record)
      void store.userIdByEmail.put(emailKey, record.userId)
    })
  }

  async function issueCode(user: UserRecord): Promise<Invitation> {
    const code = randomBytes(CODE_BYTES).toString('base64url')
    const expiresAtMs = Date.now() + INVITATION_MS
    await store.root.transaction(() => {
      for (const { key, value } of store.enrolments.getRange()) {
        if (value.userId === user.userId) void store.enrolments.remove(key)
      }
      void store.enrolments.put(hashOfCode(code), { userId: user.userId, expiresAtMs })
    })
    return { user, code, expiresAtMs }
  }

  /** @throws AccountRefusedError */
  function userOfCode(key: string): UserRecord {
    const enrolment = store.enrolments.get(key)
    const user = enrolment === undefined ? undefined : store.users.get(enrolment.userId)
    if (enrolment === undefined || user === undefined || enrolment.expiresAtMs <= Date.now()) {
      throw new AccountRefusedError(NO_SUCH_CODE)
    }
    return user
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
        userId: personIdOf(await personIds(), emailKey),
        email: email.trim(),
        passwordHash: await hashPassword(password),
        createdAtMs: now,
      }
      await put(record, emailKey)
      return record
    },

    async invite(email) {
      // Nobody knows this password; the person replaces it.
      const user = await this.create(email, randomBytes(32).toString('base64url'))
      return issueCode(user)
    },

    async inviteAgain(email) {
      const user = findByEmail(requireEmail(email))
      if (user === undefined) throw new AccountRefusedError('there is no account with this email')
      return issueCode(user)
    },

    async redeem(code, password) {
      const key = hashOfCode(code)
      // Checked before the slow hash, so that a guess costs one lookup, and again when it is used.
      userOfCode(key)
      requirePassword(password)
      const passwordHash = await hashPassword(password)
      return store.root.transaction(() => {
        const record = { ...userOfCode(key), passwordHash }
        void store.users.put(record.userId, record)
        void store.enrolments.remove(key)
        // The reason for the new code may be that somebody else has the old password.
        endSessionsOf(record.userId)
        return record
      })
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
    findByEmail(email) {
      const emailKey = normaliseEmail(email)
      return emailKey === null ? undefined : findByEmail(emailKey)
    },
    async personByEmail(email) {
      const emailKey = normaliseEmail(email)
      if (emailKey === null) return null
      const secret = await personIds()
      const wouldBe = personIdOf(secret, emailKey)
      return { userId: findByEmail(emailKey)?.userId ?? wouldBe, emailKey }
    },

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

/** Returns the email in lower case and NFC; null when it cannot be an email address. */
export function normaliseEmail(email: string): string | null {
  const trimmed = email.trim()
  if (trimmed.length > EMAIL_LENGTH_MAX || !EMAIL.test(trimmed)) return null
  return trimmed.normalize('NFC').toLowerCase()
}

/** The code has 192 random bits, so a plain hash is enough. */
function hashOfCode(code: string): string {
  return createHash('sha256').update(code).digest('base64url')
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
