import { Refusal } from './refusal.js'
import { bytesItem, countItem, decodeRlp, listItem } from './rlp.js'
import { encodeEnvelope } from './rlp-encode.js'
import type { AuthorizationPayload } from './sign-payload.js'

/**
 * An EIP-7702 authorization: 0x05 ‖ rlp([chain id, delegate, nonce]), which is also the hashed
 * form.
 */
export interface DecodedAuthorization {
  readonly kind: 'authorization'
  readonly chainId: number
  /** 20 bytes; zeros end the delegation. */
  readonly delegate: Uint8Array
  readonly nonce: number
}

/** EIP-7702, MAGIC. */
const MAGIC = 5

export function encodeAuthorization({ chainId, delegate, nonce }: AuthorizationPayload): Buffer {
  return encodeEnvelope(MAGIC, [chainId, delegate, nonce])
}

/** @throws Refusal MALFORMED */
export function decodeAuthorization(bytes: Uint8Array): DecodedAuthorization {
  if (bytes[0] !== MAGIC) throw new Refusal('MALFORMED', 'authorization magic')
  const fields = listItem(decodeRlp(bytes.subarray(1)), 3)
  return {
    kind: 'authorization',
    chainId: countItem(fields[0]),
    delegate: bytesItem(fields[1], 20),
    nonce: countItem(fields[2]),
  }
}
