import { ByteReader, concat, u8, u32, u64 } from '../../quorum-protocol/bytes.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import { sized, takeSized } from '../../quorum-protocol/sized.js'
import { sha256, TAG, tagged } from '../../quorum-protocol/tagged.js'

/**
 * Describes a user's authorizer, as both domains store it. Each certificate names the user's
 * previous one, so that neither domain can add or omit one unnoticed.
 */
export interface AuthorizerCertificate {
  readonly action: 'add' | 'remove'
  /** 32 bytes: SHA-256 of the user id. */
  readonly ownerHash: Uint8Array
  /** Counts from 1 without gaps, for each user. */
  readonly sequence: number
  /** 32 bytes: SHA-256 of the previous certificate; zeros for the first. */
  readonly previous: Uint8Array
  readonly createdAtMs: number
  /** 16 bytes that the identity provider chose. */
  readonly nonce: Uint8Array
  readonly kind: AuthorizerKind
  /** The user's name for it. */
  readonly label: string
  /** 16 bytes: `authorizerIdOf` the credential and key. */
  readonly authorizerId: Uint8Array
  /** WebAuthn credential id; empty for a P-256 key. */
  readonly credentialId: Uint8Array
  /** COSE key of a passkey; the 65-byte point of a P-256 key. */
  readonly publicKey: Uint8Array
}

export type AuthorizerKind = 'passkey' | 'p256'

/**
 * A certificate without what the authenticator makes: its hash is the challenge of a new passkey.
 */
export type AuthorizerRequest = Omit<
  AuthorizerCertificate,
  'authorizerId' | 'credentialId' | 'publicKey'
>

/** A certificate with its proofs. */
export interface AuthorizerEntry {
  readonly certificate: Uint8Array
  /**
   * The proof that the new authorizer's key is present, see `possession.ts`; empty for a removal.
   */
  readonly possession: Uint8Array
  /** An encoded proof by an earlier authorizer of the user; empty for the first. */
  readonly approval: Uint8Array
  /** 64 bytes: the identity provider's signature over the three fields above. */
  readonly userSignature: Uint8Array
}

const MAGIC = Buffer.from('AWA1', 'latin1')
const ACTION = { add: 1, remove: 2 } as const
const KIND = { passkey: 1, p256: 2 } as const
export const LABEL_CHARS_MAX = 64
const LABEL_BYTES_MAX = 4 * LABEL_CHARS_MAX
/** WebAuthn Level 3, section 4: "Credential ID … at most 1023 bytes". */
const CREDENTIAL_ID_BYTES_MAX = 1_023
const PUBLIC_KEY_BYTES_MAX = 1_024
/** Room for an attestation object with a chain of certificates, client data, and two proofs. */
const PART_BYTES_MAX = 16_384

function encodeRequest(request: AuthorizerRequest): Buffer {
  return concat(
    MAGIC,
    u8(ACTION[request.action]),
    request.ownerHash,
    u32(request.sequence),
    request.previous,
    u64(request.createdAtMs),
    request.nonce,
    u8(KIND[request.kind]),
    ...sized(Buffer.from(request.label, 'utf8')),
  )
}

export function encodeCertificate(certificate: AuthorizerCertificate): Buffer {
  return concat(
    encodeRequest(certificate),
    certificate.authorizerId,
    ...sized(certificate.credentialId),
    ...sized(certificate.publicKey),
  )
}

/** @throws Refusal MALFORMED */
export function decodeCertificate(bytes: Uint8Array): AuthorizerCertificate {
  const reader = new ByteReader(bytes)
  if (!MAGIC.equals(reader.take(4))) throw new Refusal('MALFORMED', 'no authorizer certificate')
  const action = nameOf(ACTION, reader.u8())
  const ownerHash = reader.take(32)
  const sequence = reader.u32()
  const previous = reader.take(32)
  const createdAtMs = reader.u64()
  const nonce = reader.take(16)
  const kind = nameOf(KIND, reader.u8())
  const label = Buffer.from(bounded(takeSized(reader), LABEL_BYTES_MAX)).toString('utf8')
  const authorizerId = reader.take(16)
  const credentialId = bounded(takeSized(reader), CREDENTIAL_ID_BYTES_MAX)
  const publicKey = bounded(takeSized(reader), PUBLIC_KEY_BYTES_MAX)
  reader.end()
  return {
    action,
    ownerHash,
    sequence,
    previous,
    createdAtMs,
    nonce,
    kind,
    label,
    authorizerId,
    credentialId,
    publicKey,
  }
}

/** 16 bytes; the same key always has the same id. */
export function authorizerIdOf(credentialId: Uint8Array, publicKey: Uint8Array): Buffer {
  return sha256(concat(...sized(credentialId), publicKey)).subarray(0, 16)
}

/** 32 bytes: the challenge of a new passkey. */
export function registrationChallenge(request: AuthorizerRequest): Buffer {
  return sha256(tagged(TAG.authorizerRequest, encodeRequest(request)))
}

/** Returns what a new P-256 key signs about itself, and an older authorizer signs to approve it. */
export function certificateMessage(certificate: Uint8Array): Buffer {
  return tagged(TAG.authorizer, certificate)
}

/** Returns what the identity provider signs. */
export function entryMessage(entry: Omit<AuthorizerEntry, 'userSignature'>): Buffer {
  const parts = [...sized(entry.certificate), ...sized(entry.possession), ...sized(entry.approval)]
  return tagged(TAG.authorizerEntry, ...parts)
}

export function encodeEntry(entry: AuthorizerEntry): Buffer {
  return concat(
    ...sized(entry.certificate),
    ...sized(entry.possession),
    ...sized(entry.approval),
    entry.userSignature,
  )
}

/** @throws Refusal MALFORMED */
export function decodeEntry(bytes: Uint8Array): AuthorizerEntry {
  const reader = new ByteReader(bytes)
  const certificate = bounded(takeSized(reader), PART_BYTES_MAX)
  const possession = bounded(takeSized(reader), PART_BYTES_MAX)
  const approval = bounded(takeSized(reader), PART_BYTES_MAX)
  const userSignature = reader.take(64)
  reader.end()
  return { certificate, possession, approval, userSignature }
}

function bounded(bytes: Uint8Array, bytesMax: number): Uint8Array {
  if (bytes.length > bytesMax) throw new Refusal('MALFORMED', 'authorizer field too long')
  return bytes
}

function nameOf<T extends string>(numbers: Readonly<Record<T, number>>, byte: number): T {
  for (const name of Object.keys(numbers) as T[]) if (numbers[name] === byte) return name
  throw new Refusal('MALFORMED', 'authorizer certificate')
}
