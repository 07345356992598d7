import { ByteReader, concat, u8 } from '../../quorum-protocol/bytes.js'
import { PROOF_BYTES_MAX } from '../../quorum-protocol/limits.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import { sized, takeSized } from '../../quorum-protocol/sized.js'

/**
 * A proof that an authorizer confirmed certain bytes. Kinds are numbered on the wire and in the
 * evidence, and a number never gets a second meaning.
 */
export type Proof =
  | { readonly kind: 'software'; readonly signature: Uint8Array }
  | {
      readonly kind: 'passkey'
      /** 16 bytes. */
      readonly authorizerId: Uint8Array
      readonly authenticatorData: Uint8Array
      readonly clientDataJson: Uint8Array
      readonly signature: Uint8Array
    }
  | {
      readonly kind: 'p256'
      readonly authorizerId: Uint8Array
      /** 64 bytes r ‖ s. */
      readonly signature: Uint8Array
    }

const KIND = { software: 1, passkey: 2, p256: 3 } as const

export function encodeProof(proof: Proof): Buffer {
  const kind = u8(KIND[proof.kind])
  if (proof.kind === 'software') return concat(kind, proof.signature)
  if (proof.kind === 'p256') return concat(kind, proof.authorizerId, proof.signature)
  return concat(
    kind,
    proof.authorizerId,
    ...sized(proof.authenticatorData),
    ...sized(proof.clientDataJson),
    ...sized(proof.signature),
  )
}

/** @throws Refusal MALFORMED */
export function decodeProof(bytes: Uint8Array): Proof {
  if (bytes.length > PROOF_BYTES_MAX) throw new Refusal('MALFORMED', 'proof too long')
  const reader = new ByteReader(bytes)
  const proof = readProof(reader)
  reader.end()
  return proof
}

function readProof(reader: ByteReader): Proof {
  const kind = reader.u8()
  if (kind === KIND.software) return { kind: 'software', signature: reader.take(64) }
  const authorizerId = reader.take(16)
  if (kind === KIND.p256) return { kind: 'p256', authorizerId, signature: reader.take(64) }
  if (kind !== KIND.passkey) throw new Refusal('MALFORMED', 'kind of proof')
  const authenticatorData = takeSized(reader)
  const clientDataJson = takeSized(reader)
  return {
    kind: 'passkey',
    authorizerId,
    authenticatorData,
    clientDataJson,
    signature: takeSized(reader),
  }
}
