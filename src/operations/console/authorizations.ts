import { createHash } from 'node:crypto'
import type { Authorization } from '../../api/console.js'
import { authorizerIdOfName } from '../../custody/authorizers/authorizer.js'
import { encodeProof } from '../../custody/authorizers/proof.js'
import type { UserId } from '../../domain/ids.js'
import { parseIsoTime } from '../../domain/iso-time.js'
import { fault, type Result, refuse } from '../../errors/fault.js'
import type { OperationPorts } from '../ports.js'
import type { PendingGrant } from './pending-grants.js'

/** A change that the user's approver device may have to confirm. */
interface WantedAuthorization {
  readonly userId: UserId
  /** Identifies operation and input without the proof; the repeated request must have the same. */
  readonly fingerprint: string
  readonly authorization: Authorization | undefined
  /** What it gives, by wire name, shown to the person who confirms it. */
  readonly enlarges: readonly string[]
  /** What is kept until it is confirmed; nothing by default. */
  readonly draft?: PendingGrant['draft']
}

/** What the proof was requested for. */
type AskedAuthorization = Pick<PendingGrant, 'version' | 'confirmBeforeMs' | 'draft'>

/**
 * Makes a change. If it has to be confirmed, the first request is refused with
 * AUTHORIZATION_REQUIRED and what to sign; the same request with the proof then completes it.
 * @param attempt gets the earlier request; null if there was none or it is no longer kept
 */
export async function answerToAuthorization<T>(
  { pendingGrants }: Pick<OperationPorts, 'pendingGrants'>,
  wanted: WantedAuthorization,
  attempt: (asked: AskedAuthorization | null) => Promise<Result<T>>,
): Promise<Result<T>> {
  const { userId, fingerprint, authorization, enlarges } = wanted
  const id = authorization?.authorization_id ?? null
  const pending = id === null ? null : pendingGrants.take(id, userId, fingerprint)
  const answer = await attempt(pending)
  if (answer.ok) return answer
  if (pending !== null && id !== null) {
    pendingGrants.putBack(id, pending)
    return answer.fault.code === 'AUTHORIZATION_REQUIRED'
      ? refuse(asked(answer.fault.details, id, enlarges))
      : answer
  }
  if (answer.fault.code !== 'AUTHORIZATION_REQUIRED') return answer
  const { details, message } = answer.fault
  const added = pendingGrants.add({
    draft: wanted.draft ?? null,
    userId,
    fingerprint,
    version: Number(details.grant_version),
    confirmBeforeMs: parseIsoTime(String(details.confirm_before)),
  })
  return added.ok ? refuse(asked(details, added.value, enlarges, message)) : added
}

function asked(
  details: Readonly<Record<string, unknown>>,
  authorizationId: string,
  enlarges: readonly string[],
  message?: string,
) {
  const all = { authorization_id: authorizationId, enlarges: [...enlarges], ...details }
  return fault('AUTHORIZATION_REQUIRED', all, message)
}

/** The schema has checked lengths and alphabets. */
export function proofOf(authorization: Authorization): Uint8Array | null {
  if (!('signature' in authorization)) return null
  const authorizerId = authorizerIdOfName(authorization.authorizer_id) ?? Buffer.alloc(16)
  const signature = Buffer.from(authorization.signature, 'base64url')
  if (!('client_data_json' in authorization)) {
    return encodeProof({ kind: 'p256', authorizerId, signature })
  }
  return encodeProof({
    kind: 'passkey',
    authorizerId,
    clientDataJson: Buffer.from(authorization.client_data_json, 'base64url'),
    authenticatorData: Buffer.from(authorization.authenticator_data, 'base64url'),
    signature,
  })
}

/** @param input the request without its proof */
export function fingerprintOf(operation: string, input: object): string {
  const fields = Object.entries(input).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256')
    .update(JSON.stringify([operation, fields]))
    .digest('hex')
}
