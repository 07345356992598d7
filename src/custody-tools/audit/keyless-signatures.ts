import { isZero, sameBytes } from '../../quorum-protocol/bytes.js'
import { type Intent, usesGrant } from '../../quorum-protocol/intent.js'
import type { WalletKind } from '../../quorum-protocol/keygen.js'
import { type DecodedPayload, decodePayload } from '../../quorum-protocol/payload.js'

/** A signature of a user's wallet that no API key requested: the service made it by itself. */
export interface KeylessSignature {
  readonly atMs: number
  /** 20 bytes. */
  readonly address: Uint8Array
  readonly chainId: number
  readonly nonce: number
  readonly what: 'cancel' | 'end of a delegation' | 'repeat or raised fee'
}

interface Approval {
  readonly intent: Intent
  readonly atMs: number
  readonly address: Uint8Array | null
  readonly kind: WalletKind | null
}

/** Returns the signatures, oldest first. */
export function keylessSignatures(approvals: readonly Approval[]): KeylessSignature[] {
  const found: KeylessSignature[] = []
  for (const { intent, atMs, address, kind } of approvals) {
    if (kind !== 'user' || address === null || usesGrant(intent)) continue
    const payload = decodePayload(intent.type, intent.payload)
    if (payload.kind === 'router-intent') continue
    const { chainId, nonce } = payload
    found.push({ atMs, address, chainId, nonce, what: kindOf(payload, address) })
  }
  return found.sort((a, b) => a.atMs - b.atMs)
}

function kindOf(
  payload: Exclude<DecodedPayload, { kind: 'router-intent' }>,
  address: Uint8Array,
): KeylessSignature['what'] {
  if (payload.kind === 'authorization') {
    return isZero(payload.delegate) ? 'end of a delegation' : 'repeat or raised fee'
  }
  const { to, value, data } = payload
  const movesNothing = sameBytes(to, address) && value === 0n && data.length === 0
  return movesNothing ? 'cancel' : 'repeat or raised fee'
}
