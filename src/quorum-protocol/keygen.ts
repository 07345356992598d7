import { ByteReader, concat, u8, u32 } from './bytes.js'
import { addPoints, addressOf, isSignedBy, signDigest } from './curve.js'
import { Refusal } from './refusal.js'
import { TAG, tagged, taggedHash } from './tagged.js'

/**
 * Distributed generation of one wallet key. Each side commits to its point before it sees the
 * other's, then proves knowledge of its share by signing the transcript with it: neither side can
 * choose its point so that the sum is a key that it knows.
 */
export type WalletKind = 'user' | 'service'

export interface KeygenTerms {
  /** 16 bytes, chosen by the service. */
  readonly sessionId: Uint8Array
  readonly walletId: Uint8Array
  readonly kind: WalletKind
  /** 32 bytes: SHA-256 of the owner's user id. */
  readonly ownerHash: Uint8Array
  readonly epoch: number
}

export interface KeygenReveal {
  /** 33 bytes, compressed. */
  readonly point: Uint8Array
  /** 32 bytes. */
  readonly nonce: Uint8Array
}

type KeygenSide = 'service' | 'user'

const SIDE_BYTE = { service: 1, user: 2 } as const
const KIND_BYTE = { user: 1, service: 2 } as const

/** The side is part of the hash, so that one side cannot answer with the other's commitment. */
export function commitmentOf(
  side: KeygenSide,
  reveal: KeygenReveal,
  sessionId: Uint8Array,
): Buffer {
  return taggedHash(TAG.keygenCommit, u8(SIDE_BYTE[side]), reveal.point, reveal.nonce, sessionId)
}

function encodeTerms(terms: KeygenTerms): Buffer {
  return concat(
    terms.sessionId,
    terms.walletId,
    u8(KIND_BYTE[terms.kind]),
    terms.ownerHash,
    u32(terms.epoch),
  )
}

/** Hashes everything that both sides sent, in order (32 bytes). */
export function transcriptOf(
  terms: KeygenTerms,
  service: KeygenReveal & { readonly commitment: Uint8Array },
  user: KeygenReveal & { readonly commitment: Uint8Array },
): Buffer {
  return taggedHash(
    TAG.keygenTranscript,
    encodeTerms(terms),
    service.commitment,
    user.commitment,
    service.point,
    service.nonce,
    user.point,
    user.nonce,
  )
}

/** Proof of possession of a share: 65 bytes over transcript and side. */
export function proveShare(side: KeygenSide, transcript: Uint8Array, share: Uint8Array): Buffer {
  return signDigest(possessionDigest(side, transcript), share)
}

/** @throws Refusal UNAUTHENTIC */
export function checkShareProof(
  side: KeygenSide,
  transcript: Uint8Array,
  point: Uint8Array,
  proof: Uint8Array,
): void {
  if (!isSignedBy(point, possessionDigest(side, transcript), proof)) {
    throw new Refusal('UNAUTHENTIC', 'proof of possession')
  }
}

function possessionDigest(side: KeygenSide, transcript: Uint8Array): Buffer {
  return taggedHash(TAG.keygenTranscript, u8(SIDE_BYTE[side]), transcript)
}

/** A wallet's public facts, which both sides sign once the self-test has passed. */
export interface Certificate {
  readonly walletId: Uint8Array
  readonly kind: WalletKind
  readonly ownerHash: Uint8Array
  readonly epoch: number
  /** 33 bytes each, compressed. */
  readonly servicePoint: Uint8Array
  readonly userPoint: Uint8Array
  readonly transcript: Uint8Array
}

export function encodeCertificate(certificate: Certificate): Buffer {
  return concat(
    certificate.walletId,
    u8(KIND_BYTE[certificate.kind]),
    certificate.ownerHash,
    u32(certificate.epoch),
    certificate.servicePoint,
    certificate.userPoint,
    certificate.transcript,
  )
}

/** @throws Refusal MALFORMED */
export function decodeCertificate(bytes: Uint8Array): Certificate {
  const reader = new ByteReader(bytes)
  const walletId = reader.take(16)
  const kind = kindOf(reader.u8())
  const certificate = {
    walletId,
    kind,
    ownerHash: reader.take(32),
    epoch: reader.u32(),
    servicePoint: reader.take(33),
    userPoint: reader.take(33),
    transcript: reader.take(32),
  }
  reader.end()
  return certificate
}

/** @throws Refusal MALFORMED */
export function kindOf(byte: number): WalletKind {
  if (byte === 1) return 'user'
  if (byte === 2) return 'service'
  throw new Refusal('MALFORMED', 'wallet kind')
}

export function kindByte(kind: WalletKind): number {
  return KIND_BYTE[kind]
}

export function certificateMessage(encoded: Uint8Array): Buffer {
  return tagged(TAG.certificate, encoded)
}

/** 33 bytes: the wallet's own public key. */
export function walletPoint(certificate: Certificate): Buffer {
  return addPoints(certificate.servicePoint, certificate.userPoint)
}

/** 20 bytes. */
export function walletAddress(certificate: Certificate): Buffer {
  return addressOf(walletPoint(certificate))
}

/**
 * The digest of a wallet's first signature: SHA-256 under its own tag, so that no transaction,
 * authorization or typed data can hash to it.
 */
export function selfTestDigest(encodedCertificate: Uint8Array): Buffer {
  return taggedHash(TAG.selfTest, encodedCertificate)
}

/** Returns what each side signs to let the quorum signer make the self-test. */
export function selfTestRequest(encodedCertificate: Uint8Array, quorumBoot: Uint8Array): Buffer {
  return tagged(TAG.selfTestRequest, encodedCertificate, quorumBoot)
}
