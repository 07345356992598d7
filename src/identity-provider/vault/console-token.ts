import { createLocalJWKSet, createRemoteJWKSet, errors, type JSONWebKeySet, jwtVerify } from 'jose'
import { ACCOUNT_CLAIM } from '../../domain/role.js'
import { Refusal } from '../../quorum-protocol/refusal.js'

/**
 * The identity provider's own check of console tokens: it never trusts the service about a user.
 */
export interface TokenIssuer {
  /** The issuer expected in `iss`. */
  readonly issuer: string
  /** Expected in `aud`. */
  readonly audience: string
  /** The URL of the issuer's keys, or the keys themselves when the operator has pinned them. */
  readonly keys: { readonly url: string } | JSONWebKeySet
  /**
   * The highest age in seconds since it was issued; by default only the token's own expiry counts.
   */
  readonly ageSecondsMax?: number
}

export type TokenVerifier = (token: string) => Promise<TokenHolder>

/**
 * The person who holds a token and the account it is for. The ledger decides what they may do
 * there.
 */
export interface TokenHolder {
  readonly personId: string
  /** The person's own account when the token names none. */
  readonly accountId: string
}

/** Only asymmetric algorithms: a public key must never be accepted as an HMAC secret. */
const ALGORITHMS = ['ES256', 'RS256', 'EdDSA']
const LEEWAY_SECONDS = 30
const SUBJECT_CHARS_MAX = 255

/** @returns a function from token to its holder that throws Refusal NOT_GRANTED */
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
      const account = ACCOUNT_CLAIM in payload ? payload[ACCOUNT_CLAIM] : sub
      if (typeof account !== 'string' || account === '' || account.length > SUBJECT_CHARS_MAX) {
        throw new Refusal('NOT_GRANTED', 'console token names no account')
      }
      return { personId: sub, accountId: account }
    } catch (error) {
      if (error instanceof errors.JOSEError && error.code !== 'ERR_JWKS_TIMEOUT') {
        throw new Refusal('NOT_GRANTED', `console token: ${error.code}`)
      }
      throw error
    }
  }
}
