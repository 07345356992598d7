import { hmacSha256 } from '../../quorum-protocol/hmac.js'
import { TAG, tagged } from '../../quorum-protocol/tagged.js'

/**
 * Proves that a key requested a key below it. Nobody confirms such a key, because it grants nothing
 * new; the maker's secret proves the request, and both domains have the key derived from that
 * secret at that moment.
 * @param makerProofKey 32 bytes
 * @param statement the encoded statement of the new key
 * @returns 32 bytes
 */
export function subKeyProof(makerProofKey: Uint8Array, statement: Uint8Array): Buffer {
  const message = tagged(TAG.subKey, statement)
  return hmacSha256(makerProofKey, message.length, (room, at) => void room.set(message, at))
}
