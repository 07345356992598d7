import { z } from 'zod'

/**
 * The four operations of a key management service that a domain's keys need, with the names and the
 * JSON of AWS KMS (API version 2014-11-01), which LocalStack and others also implement. Any service
 * fits that keeps P-256 keys, signs digests and does ECDH without revealing the key.
 *
 * | operation | request | answer |
 * |---|---|---|
 * | GetPublicKey | KeyId | PublicKey: base64 of the DER SubjectPublicKeyInfo |
 * | Sign | KeyId, Message (base64 of 32 bytes), MessageType DIGEST, SigningAlgorithm ECDSA_SHA_256 | Signature: base64 of DER |
 * | DeriveSharedSecret | KeyId, KeyAgreementAlgorithm ECDH, PublicKey | SharedSecret: base64 |
 * | CreateKey | KeySpec ECC_NIST_P256, KeyUsage SIGN_VERIFY or KEY_AGREEMENT | KeyMetadata.KeyId |
 */
export interface KmsClient {
  /** @returns DER of SubjectPublicKeyInfo */
  publicKey(keyId: string): Promise<Buffer>
  /**
   * @param digest 32 bytes
   * @returns DER of the ECDSA signature
   */
  sign(keyId: string, digest: Uint8Array): Promise<Buffer>
  /**
   * @param peer DER of SubjectPublicKeyInfo
   * @returns 32 bytes; the caller wipes them
   */
  deriveSharedSecret(keyId: string, peer: Uint8Array): Promise<Buffer>
  /** @returns the new key's id */
  createKey(usage: 'SIGN_VERIFY' | 'KEY_AGREEMENT'): Promise<string>
}

interface KmsAccess {
  readonly url: string
  /** Sent unchanged as `Authorization`; read for each call, so that it can be renewed. */
  readonly authorization: () => string
}

/** How long a batch waits for its signature; no longer than the protocol's own call timeout. */
const TIMEOUT_MS = 4_000
const ANSWER_BYTES_MAX = 64 * 1024

const base64 = z.string().regex(/^[A-Za-z0-9+/]+={0,2}$/)
const answers = {
  GetPublicKey: z.object({ PublicKey: base64 }),
  Sign: z.object({ Signature: base64 }),
  DeriveSharedSecret: z.object({ SharedSecret: base64 }),
  CreateKey: z.object({ KeyMetadata: z.object({ KeyId: z.string().min(1).max(256) }) }),
}
type Operation = keyof typeof answers

export function createKmsClient({ url, authorization }: KmsAccess): KmsClient {
  async function call<O extends Operation>(
    operation: O,
    body: Record<string, unknown>,
  ): Promise<z.infer<(typeof answers)[O]>> {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-amz-json-1.1',
        'x-amz-target': `TrentService.${operation}`,
        authorization: authorization(),
      },
      body: JSON.stringify(body),
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch((cause: unknown) => {
      throw new Error(`KMS ${url}: ${operation} got no answer`, { cause })
    })
    const text = await response.text()
    if (text.length > ANSWER_BYTES_MAX)
      throw new Error(`KMS ${url}: ${operation} answered too much`)
    if (!response.ok) {
      throw new Error(`KMS ${url}: ${operation} failed with ${response.status} ${kindOf(text)}`)
    }
    const parsed = answers[operation].safeParse(JSON.parse(text))
    if (!parsed.success) throw new Error(`KMS ${url}: ${operation} answered something else`)
    return parsed.data as z.infer<(typeof answers)[O]>
  }

  return {
    async publicKey(keyId) {
      return decode((await call('GetPublicKey', { KeyId: keyId })).PublicKey)
    },
    async sign(keyId, digest) {
      const answer = await call('Sign', {
        KeyId: keyId,
        Message: encode(digest),
        MessageType: 'DIGEST',
        SigningAlgorithm: 'ECDSA_SHA_256',
      })
      return decode(answer.Signature)
    },
    async deriveSharedSecret(keyId, peer) {
      const answer = await call('DeriveSharedSecret', {
        KeyId: keyId,
        KeyAgreementAlgorithm: 'ECDH',
        PublicKey: encode(peer),
      })
      return decode(answer.SharedSecret)
    },
    async createKey(usage) {
      const answer = await call('CreateKey', { KeySpec: 'ECC_NIST_P256', KeyUsage: usage })
      return answer.KeyMetadata.KeyId
    },
  }
}

/** The error's name if KMS gives one, never the rest of the text. */
function kindOf(text: string): string {
  return /"__type"\s*:\s*"([A-Za-z#.]{1,100})"/.exec(text)?.[1] ?? ''
}

function encode(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64')
}

function decode(text: string): Buffer {
  return Buffer.from(text, 'base64')
}
