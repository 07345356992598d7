import { createHash } from 'node:crypto'
import { CUSTODY_ADDRESS } from '../../../actors/addresses.js'
import type { Authorization } from '../../api/console.js'
import { authorizerIdOfName } from '../../custody/authorizers/authorizer.js'
import { encodeProof } from '../../custody/authorizers/proof.js'
import type { ApiKey } from '../../domain/api-key.js'
import { type Enlargement, grantedOf } from '../../domain/grant-terms.js'
import { fault, ok, type Result, refuse } from '../../errors/fault.js'
import type { GrantOutcome, GrantUpdate } from '../../service-custody/co-signer.js'
import { deriveProofKey } from '../../service-custody/key-proof.js'
import type { ConsoleContext } from '../context.js'
import type { OperationPorts } from '../ports.js'
import type { PendingGrant } from './pending-grants.js'

export interface WantedGrant {
  readonly operation: 'create_key' | 'patch_key'
  /** The request without its proof. */
  readonly input: object
  readonly authorization: Authorization | undefined
  readonly enlarges: readonly Enlargement[]
  /** Made once: the repetition with a proof gets the very same. */
  readonly draft: () => DraftKey
}

export interface DraftKey {
  readonly key: ApiKey
  /** Of a new key; null for a change. */
  readonly secret: string | null
}

export interface EnlargedGrant extends DraftKey {
  readonly authorizedBy: NonNullable<GrantOutcome['authorizedBy']>
}

/**
 * Has a grant enlarged. Where the user's authorizer has to confirm it, the first request is refused
 * with AUTHORIZATION_REQUIRED and what to sign; the same request with the proof then finishes.
 */
export async function enlargeGrant(
  { actors, pendingGrants }: OperationPorts,
  context: ConsoleContext,
  wanted: WantedGrant,
): Promise<Result<EnlargedGrant>> {
  const { userId } = context
  const { authorization } = wanted
  const fingerprint = fingerprintOf(wanted)
  const id = authorization?.authorization_id ?? null
  const pending = id === null ? null : pendingGrants.take(id, userId, fingerprint)
  const draft = pending ?? wanted.draft()
  const proofKey = draft.secret === null ? null : deriveProofKey(draft.secret)
  const grant: GrantUpdate = {
    ...grantOf(draft.key, context, proofKey),
    effect: 'enlarges',
    authorization:
      pending === null || authorization === undefined
        ? null
        : {
            version: pending.version,
            confirmBeforeMs: pending.confirmBeforeMs,
            proof: proofOf(authorization),
          },
  }
  const answer = await actors.ask(CUSTODY_ADDRESS, { type: 'put-grant', grant })
  if (answer.ok) {
    const { authorizedBy } = answer.value
    if (authorizedBy === null) throw new Error('a grant was enlarged without a proof')
    return ok({ key: draft.key, secret: draft.secret, authorizedBy })
  }
  if (pending !== null && id !== null) {
    pendingGrants.putBack(id, pending)
    return answer.fault.code === 'AUTHORIZATION_REQUIRED'
      ? refuse(asked(answer.fault.details, id, wanted))
      : answer
  }
  if (answer.fault.code !== 'AUTHORIZATION_REQUIRED') return answer
  const { details } = answer.fault
  const fresh: PendingGrant = {
    key: draft.key,
    secret: draft.secret,
    userId,
    fingerprint,
    version: Number(details.grant_version),
    confirmBeforeMs: Date.parse(String(details.confirm_before)),
  }
  const added = pendingGrants.add(fresh)
  return added.ok ? refuse(asked(details, added.value, wanted, answer.fault.message)) : added
}

/** The grant of an active key, as the custody actor is asked for it; it takes away unless its caller says otherwise. */
export function grantOf(
  key: ApiKey,
  context: ConsoleContext,
  proofKey: Uint8Array | null,
): GrantUpdate {
  return {
    ...grantedOf(key),
    keyId: key.keyId,
    rotatedFrom: null,
    walletId: key.subWalletId,
    userId: key.userId,
    proofKey,
    expiresAt: null,
    revoked: key.revokedAtMs !== null,
    consoleToken: context.token,
    effect: 'narrows',
    authorization: null,
  }
}

function asked(
  details: Readonly<Record<string, unknown>>,
  authorizationId: string,
  { enlarges }: WantedGrant,
  message?: string,
) {
  const all = { authorization_id: authorizationId, enlarges: [...enlarges], ...details }
  return fault('AUTHORIZATION_REQUIRED', all, message)
}

/** The schema has checked lengths and alphabets. */
function proofOf(authorization: Authorization): Uint8Array | null {
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

function fingerprintOf({ operation, input }: WantedGrant): string {
  const fields = Object.entries(input).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256')
    .update(JSON.stringify([operation, fields]))
    .digest('hex')
}
