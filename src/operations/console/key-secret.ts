import { createHash } from 'node:crypto'
import type { Timers } from '../../clock/timers.js'
import type { Environment } from '../../domain/api-key.js'
import { partitionOfSecret } from '../../domain/cells.js'
import type { UserId } from '../../domain/ids.js'
import { partitionOf } from '../../domain/partition.js'

const SECRET_BYTES = 24

/**
 * Draws a secret: 24 random bytes in base64url (32 characters), counted up until its partition is
 * the user's. It is shown once and stored as a hash.
 */
export function newKeySecret(
  environment: Environment,
  userId: UserId,
  { random }: Pick<Timers, 'random'>,
): {
  readonly secret: string
  readonly secretHash: string
  readonly secretPrefix: string
} {
  const partition = partitionOf(userId)
  const bytes = Buffer.from(random.bytes(SECRET_BYTES))
  let secret = secretOf(environment, bytes)
  while (partitionOfSecret(secret) !== partition) {
    countUp(bytes)
    secret = secretOf(environment, bytes)
  }
  return {
    secret,
    secretHash: createHash('sha256').update(secret).digest('hex'),
    secretPrefix: secret.slice(0, 12),
  }
}

function secretOf(environment: Environment, bytes: Buffer): string {
  return `sk_${environment}_${bytes.toString('base64url')}`
}

/** Treats the bytes as a number whose last byte is the lowest. */
function countUp(bytes: Buffer): void {
  for (let at = bytes.length - 1; at >= 0; at--) {
    bytes[at] = ((bytes[at] ?? 0) + 1) & 0xff
    if (bytes[at] !== 0) return
  }
}
