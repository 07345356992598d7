import { createHash } from 'node:crypto'
import type { Timers } from '../../clock/timers.js'
import type { Environment } from '../../domain/api-key.js'

/** A fresh secret: 24 random bytes, base64url (32 characters). Shown once, kept as a hash. */
export function newKeySecret(
  environment: Environment,
  { random }: Pick<Timers, 'random'>,
): {
  readonly secret: string
  readonly secretHash: string
  readonly secretPrefix: string
} {
  const secret = `sk_${environment}_${Buffer.from(random.bytes(24)).toString('base64url')}`
  return {
    secret,
    secretHash: createHash('sha256').update(secret).digest('hex'),
    secretPrefix: secret.slice(0, 12),
  }
}
