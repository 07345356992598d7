import { createLocalJWKSet, createRemoteJWKSet, errors, type JSONWebKeySet, jwtVerify } from 'jose'
import { Refusal } from '../../quorum-protocol/refusal.js'

/** The user side's own check of console tokens: it never takes the service's word for a user. */
export interface TokenIssuer {
  /** Expected `iss`. */
  readonly issuer: string
  /** Expected in `aud`. */
  readonly audience: string
  /** Where its keys are, or the keys themselves where the operator has pinned them. */
  readonly keys: { readonly url: string } | JSONWebKeySet
  /** Seconds since it was issued; default: its own expiry alone. */
  readonly ageSecondsMax?: number
}

export type TokenVerifier = (token: string) => Promise<string>

/** Asymmetric algorithms only: a public key must never pass for a secret. */
const ALGORITHMS = ['ES256', 'RS256', 'EdDSA']
const LEEWAY_SECONDS = 30
const SUBJECT_CHARS_MAX = 255

/** @returns a function from token to user id that throws Refusal NOT_GRANTED */
export function createTokenVerifier(from: TokenIssuer): TokenVerifier {
  const keys =
    'url' in from.keys
      ? createRemoteJWKSet(new URL(from.keys.url), { timeoutDuration: 3_000 })
      : createLocalJWKSet(from.keys)
  return async (token) => {
    try {
      const { payload } = await jwtVerify(token, keys, {
        issuer: from.issuer,
        audience: from.audience,
        algorithms: ALGORITHMS,
        clockTolerance: LEEWAY_SECONDS,
        requiredClaims: ['sub', 'exp'],
        ...(from.ageSecondsMax === undefined ? {} : { maxTokenAge: from.ageSecondsMax }),
      })
      const { sub } = payload
      if (sub === undefined || sub === '' || sub.length > SUBJECT_CHARS_MAX) {
        throw new Refusal('NOT_GRANTED', 'console token names no user')
      }
      return sub
    } catch (error) {
      if (error instanceof errors.JOSEError && error.code !== 'ERR_JWKS_TIMEOUT') {
        throw new Refusal('NOT_GRANTED', `console token: ${error.code}`)
      }
      throw error
    }
  }
}
