import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { authorizerName } from '../../custody/authorizers/authorizer.js'
import {
  type AuthorizerCertificate,
  certificateMessage,
  decodeCertificate,
} from '../../custody/authorizers/certificate.js'
import { recoveryMessage } from '../../custody/authorizers/recovery.js'
import { writePublicFile } from '../../custody/domain-keys/private-file.js'
import { sameBytes } from '../../quorum-protocol/bytes.js'
import { publicKeyFromRaw, verifyP256 } from '../../quorum-protocol/p256.js'
import { sha256 } from '../../quorum-protocol/tagged.js'
import { openRegistryRoot } from './registry-root.js'

const bytes = z
  .string()
  .max(8_192)
  .regex(/^[A-Za-z0-9_-]+$/)

/** The file that a user who lost every authorizer sends to the operator; it contains no secret. */
const recoveryRequest = z.strictObject({
  user_id: z.string().min(1).max(255),
  /** Base64url, as the identity provider made it. */
  certificate: bytes,
  /** The new P-256 key's signature of the certificate, which proves that the user has the key. */
  signature: bytes,
})
type RecoveryRequest = z.infer<typeof recoveryRequest>

/** The same with the root's signature, for the user to give to the identity provider. */
const approvedRecovery = recoveryRequest.extend({ root_signature: bytes })

export interface ApproveOptions {
  /** The registry root's private key. */
  readonly rootPath: string
  readonly requestPath: string
  readonly outPath: string
  /** The user, whom the operator has identified by other means. */
  readonly userId: string
}

interface ApprovedAuthorizer {
  readonly userId: string
  readonly authorizerId: string
  readonly label: string
  readonly createdAtMs: number
}

/**
 * Signs the key of a user who lost every authorizer, on the machine with the root.
 * @throws Error that names the file and the reason; then nothing is written
 */
export async function approveAuthorizer(options: ApproveOptions): Promise<ApprovedAuthorizer> {
  const { requestPath, userId } = options
  const request = readRecovery(requestPath, recoveryRequest)
  const certificate = Buffer.from(request.certificate, 'base64url')
  const { authorizerId, label, createdAtMs } = checked(requestPath, request, certificate, userId)
  const root = openRegistryRoot(options.rootPath)
  const signature = await root.sign(recoveryMessage(certificate))
  const approved = { ...request, root_signature: signature.toString('base64url') }
  writePublicFile(options.outPath, Buffer.from(`${JSON.stringify(approved)}\n`))
  return { userId, authorizerId: authorizerName(authorizerId), label, createdAtMs }
}

/** @throws Error that names the file */
export function readApprovedRecovery(path: string): z.infer<typeof approvedRecovery> {
  return readRecovery(path, approvedRecovery)
}

function readRecovery<S extends z.ZodType>(path: string, schema: S): z.output<S> {
  let json: unknown
  try {
    json = JSON.parse(readFileSync(path, 'utf8'))
  } catch (cause) {
    throw new Error(`${path} is not JSON, or cannot be read`, { cause })
  }
  const parsed = schema.safeParse(json)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw new Error(`${path} is not a recovery request: ${issue?.path.join('.')} ${issue?.message}`)
}

function checked(
  path: string,
  request: RecoveryRequest,
  encoded: Uint8Array,
  userId: string,
): AuthorizerCertificate {
  const wrong = (reason: string) => new Error(`${path}: ${reason}`)
  let certificate: AuthorizerCertificate
  try {
    certificate = decodeCertificate(encoded)
  } catch {
    throw wrong('its certificate is malformed')
  }
  if (request.user_id !== userId) throw wrong(`it belongs to ${request.user_id}, not to ${userId}`)
  if (!sameBytes(certificate.ownerHash, sha256(Buffer.from(userId)))) {
    throw wrong(`its certificate belongs to another user than ${userId}`)
  }
  if (certificate.action !== 'add' || certificate.kind !== 'p256') {
    throw wrong('its certificate adds no P-256 key')
  }
  if (certificate.sequence === 1) throw wrong('the user never had an authorizer')
  const signature = Buffer.from(request.signature, 'base64url')
  const key = publicKeyFromRaw(certificate.publicKey)
  if (!verifyP256(key, certificateMessage(encoded), signature)) {
    throw wrong('the new key has not signed its certificate')
  }
  return certificate
}
