import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import type { Authorization } from '../api/console.js'
import { ServiceError } from '../client/errors.js'
import { type ApprovalTerm, readApprovalTerm } from '../custody/approvals/approval-term.js'
import { readConfirmable } from '../custody/authorizers/confirmable.js'
import {
  type FreezeStatement,
  idOfSubject,
  readFreezeStatement,
} from '../custody/authorizers/freeze-statement.js'
import { type GrantStatement, readGrantStatement } from '../custody/authorizers/grant-statement.js'
import { type MemberStatement, readMemberStatement } from '../custody/members/member-statement.js'
import type { GrantedName } from '../domain/key-policy.js'
import { canonicalText } from '../policy/canonical-policy.js'
import type { Policy } from '../policy/policy.js'
import { openKey, savedKeys } from './authorizer-keys.js'
import { UsageError } from './exit-codes.js'
import type { Io } from './io.js'

/** What the user requested; a statement that differs is not signed. */
export type Wish = Partial<
  Pick<GrantStatement, 'walletId' | GrantedName> &
    Pick<FreezeStatement, 'scope'> &
    Pick<MemberStatement, 'action' | 'role' | 'personId' | 'accountId'> &
    Pick<ApprovalTerm, 'approvalId' | 'keyId' | 'chainId' | 'to' | 'value' | 'hash'>
>

const required = z.object({
  authorization_id: z.string(),
  grant: z.string(),
  confirm_before: z.string(),
  confirm_url: z.string().nullable(),
  authorizers: z.array(
    z.object({ authorizer_id: z.string(), kind: z.enum(['passkey', 'p256']), label: z.string() }),
  ),
})
type Required = z.infer<typeof required>

/** How often the browser's answer is polled. */
const POLL_MS = 2_000

/**
 * Makes a request that may need the user's authorizer: signs with a registered key on this machine,
 * or waits for a passkey in the browser.
 * @param attempt sends the request, again with the proof
 * @throws UsageError with what to do when there is no authorizer, or the service asks for a
 * signature of something else
 */
export async function withAuthorization<T>(
  io: Io,
  kind: keyof typeof READERS,
  wish: Wish,
  attempt: (authorization?: Authorization) => Promise<T>,
): Promise<T> {
  try {
    return await attempt()
  } catch (error) {
    if (!isAuthorizationRequired(error)) throw error
    const asked = required.safeParse(error.details)
    if (!asked.success) throw error
    return answer(io, kind, wish, asked.data, attempt)
  }
}

async function answer<T>(
  io: Io,
  kind: keyof typeof READERS,
  wish: Wish,
  asked: Required,
  attempt: (authorization?: Authorization) => Promise<T>,
): Promise<T> {
  const encoded = Buffer.from(asked.grant, 'base64url')
  const confirmable = readConfirmable(encoded)
  if (confirmable.kind !== kind) throw somethingElse(confirmable.kind)
  refuseOther(READERS[kind](encoded), wish)
  for (const [name, value] of confirmable.lines) io.err(`  ${name.padEnd(24)}${value}\n`)
  const { authorization_id } = asked
  const here = new Set(savedKeys(io).map((key) => key.authorizer_id))
  const own = asked.authorizers.find(({ authorizer_id }) => here.has(authorizer_id))
  if (own !== undefined) {
    const signature = await openKey(io, own.authorizer_id).sign(confirmable.message)
    io.err(`confirmed by ${own.label} (${own.authorizer_id})\n`)
    const { authorizer_id } = own
    return attempt({ authorization_id, authorizer_id, signature: signature.toString('base64url') })
  }
  if (asked.confirm_url === null || !asked.authorizers.some(({ kind }) => kind === 'passkey')) {
    throw new UsageError(
      'this needs one of your authorizers: run countersign authorizer create, then run this again',
    )
  }
  io.err(`Confirm it with your passkey:\n  ${asked.confirm_url}\n`)
  return untilConfirmed(asked, attempt)
}

async function untilConfirmed<T>(
  { authorization_id, confirm_before }: Required,
  attempt: (authorization?: Authorization) => Promise<T>,
): Promise<T> {
  while (Date.now() < Date.parse(confirm_before)) {
    await delay(POLL_MS)
    try {
      return await attempt({ authorization_id })
    } catch (error) {
      if (!isAuthorizationRequired(error)) throw error
    }
  }
  throw new UsageError('it was not confirmed in time; run the command again')
}

/** @throws UsageError because a compromised service could ask for more than was typed */
function refuseOther(statement: Partial<Record<keyof Wish, unknown>>, wish: Wish): void {
  for (const [field, value] of Object.entries(wish)) {
    const said = statement[field as keyof Wish]
    if (textOf(said) !== textOf(value)) {
      throw somethingElse(field)
    }
  }
}

const READERS = {
  ...{ grant: readGrant, unfreeze: readFreeze, approval: readApproval },
  ...{ member: readMember, join: readMember },
} as const

function readMember(encoded: Uint8Array): MemberStatement {
  return readMemberStatement(encoded).statement
}

function readApproval(encoded: Uint8Array): Partial<Record<keyof Wish, unknown>> {
  return readApprovalTerm(encoded).statement
}

function readGrant(encoded: Uint8Array): GrantStatement {
  return readGrantStatement(encoded).statement
}

/** A wallet's id is compared with what was typed. */
function readFreeze(encoded: Uint8Array): Partial<Record<keyof Wish, unknown>> {
  const { scope, subject } = readFreezeStatement(encoded).statement
  return { scope, ...(scope === 'wallet' ? { walletId: idOfSubject(subject) } : {}) }
}

function somethingElse(what: string): UsageError {
  return new UsageError(`the service asked to confirm something else (${what}); not signed`)
}

function textOf(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  if (isPolicy(value)) return canonicalText(value)
  return Array.isArray(value) ? [...value].sort((a, b) => a - b).join() : String(value)
}

function isPolicy(value: unknown): value is Policy {
  return typeof value === 'object' && value !== null && 'rules' in value
}

function isAuthorizationRequired(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.code === 'AUTHORIZATION_REQUIRED'
}
