import { z } from 'zod'
import { type Authorizer, authorizerName } from '../../custody/authorizers/authorizer.js'
import { LABEL_CHARS_MAX } from '../../custody/authorizers/certificate.js'
import { STATEMENT_BYTES_MAX } from '../../custody/authorizers/grant-statement.js'
import type { Proof } from '../../custody/authorizers/proof.js'
import { ID_PREFIX, isId, ulidBytes } from '../../domain/ids.js'
import { isSeen, MISLEADING } from '../../domain/printable.js'

/** JSON of the authorizer routes; bytes are base64url. */
const bytes = (charsMax: number) =>
  z
    .string()
    .max(charsMax)
    .regex(/^[A-Za-z0-9_-]+$/, 'must be base64url')
    .transform((text) => Buffer.from(text, 'base64url'))

const ceremonyId = z.string().max(64)
const authorizerId = z
  .string()
  .regex(/^aut_[0-9a-f]{32}$/, 'must be aut_ and 32 hex digits')
  .transform((name) => Buffer.from(name.slice(4), 'hex'))

/** Accepts text that pages and messages can show on one line. */
function oneLine(times: '+' | '*'): RegExp {
  return new RegExp(`^[^\\p{Cc}\\p{Cs}${MISLEADING}]${times}$`, 'u')
}

const label = z
  .string()
  .min(1)
  .max(LABEL_CHARS_MAX)
  .regex(oneLine('+'), 'must not contain control characters or marks of direction')
  .refine(isSeen, 'must be visible: not only spaces, and no invisible characters')

const signature = z
  .string()
  .length(86)
  .regex(/^[A-Za-z0-9_-]+$/, 'must be base64url of 64 bytes')
  .transform((text) => Buffer.from(text, 'base64url'))

const proof = z
  .union([
    z.strictObject({
      authorizer_id: authorizerId,
      client_data_json: bytes(4_096),
      authenticator_data: bytes(2_048),
      signature: bytes(2_048),
    }),
    z.strictObject({ authorizer_id: authorizerId, signature }),
  ])
  .transform((given): Proof => {
    const { authorizer_id, signature: signed } = given
    if (!('client_data_json' in given)) {
      return { kind: 'p256', authorizerId: authorizer_id, signature: signed }
    }
    return {
      kind: 'passkey',
      authorizerId: authorizer_id,
      authenticatorData: given.authenticator_data,
      clientDataJson: given.client_data_json,
      signature: signed,
    }
  })

export const beginBody = z.union([
  z.strictObject({ kind: z.literal('passkey'), label }),
  z.strictObject({ kind: z.literal('p256'), label, public_key: bytes(88) }),
])

export const finishBody = z.union([
  z.strictObject({
    ceremony_id: ceremonyId,
    attestation_object: bytes(16_384),
    client_data_json: bytes(4_096),
  }),
  z.strictObject({ ceremony_id: ceremonyId, signature }),
])

export const recoverBody = z.strictObject({
  certificate: bytes(4_096),
  signature,
  root_signature: signature,
})

export const approveBody = z.strictObject({ ceremony_id: ceremonyId, proof })
export const waitingBody = z.strictObject({ ceremony_id: ceremonyId })
export const removeBody = z.strictObject({ authorizer_id: authorizerId })

/** Base64 takes four characters for three bytes. */
export const STATEMENT_CHARS_MAX = Math.ceil((STATEMENT_BYTES_MAX * 4) / 3)
export const confirmBody = z.strictObject({ grant: bytes(STATEMENT_CHARS_MAX), proof })

const approvalId = z
  .string()
  .refine((id) => isId(ID_PREFIX.approval, id), 'must be an approval id')
  .transform(ulidBytes)
/** One line, as the page shows it to the agent. */
export const COMMENT_CHARS_MAX = 200
const comment = z
  .string()
  .max(COMMENT_CHARS_MAX)
  .regex(oneLine('*'), 'must not contain control characters or marks of direction')

export const waitingCallBody = z.strictObject({ approval_id: approvalId })
export const approveCallBody = z.strictObject({ approval_id: approvalId, proof })
export const declineCallBody = z.strictObject({ approval_id: approvalId, comment })

export function base64Url(value: Uint8Array): string {
  return Buffer.from(value).toString('base64url')
}

export function authorizerJson(authorizer: Authorizer): Record<string, unknown> {
  const { id, kind, label: name, createdAtMs, credentialId } = authorizer
  return {
    authorizer_id: authorizerName(id),
    kind,
    label: name,
    created_at: new Date(createdAtMs).toISOString(),
    credential_id: kind === 'passkey' ? base64Url(credentialId) : null,
  }
}
