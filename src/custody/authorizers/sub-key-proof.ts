import { hmacSha256 } from '../../quorum-protocol/hmac.js'
import { TAG, tagged } from '../../quorum-protocol/tagged.js'

/**
 * What a key makes of its own nobody confirms, since it gives nothing: that its maker asked for it
 * the maker's secret proves, of which both domains hold what this is keyed with at the moment.
 * @param makerProofKey 32 bytes
 * @param statement encoded, of the key that is made
 * @returns 32 bytes
 */
export function subKeyProof(makerProofKey: Uint8Array, statement: Uint8Array): Buffer {
  const message = tagged(TAG.subKey, statement)
  return hmacSha256(makerProofKey, message.length, (room, at) => void room.set(message, at))
}
