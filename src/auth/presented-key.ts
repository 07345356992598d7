import { fault, ok, type Result, refuse } from '../errors/fault.js'

/**
 * Returns the API key of a request to `/mcp`: from `X-Api-Key`, or a bearer token, because many
 * hosts can set no other header. Spec silent: two different keys are refused, so that nobody needs
 * to know which one counts. A bearer token that is not an API key is ignored, as it may be for a
 * gateway.
 */
export function presentedKey(xApiKey: string, authorization: string): Result<string> {
  if (authorization === '') return ok(xApiKey)
  const bearer = bearerKeyOf(authorization)
  if (bearer === '' || bearer === xApiKey) return ok(xApiKey)
  return xApiKey === '' ? ok(bearer) : refuse(fault('UNAUTHENTICATED', {}, TWO_KEYS))
}

/** Empty without one. RFC 9110, section 11.1: the scheme's name is case-insensitive. */
export function bearerKeyOf(authorization: string): string {
  return BEARER_KEY.exec(authorization)?.[1] ?? ''
}

const BEARER_KEY = /^bearer +(sk_\S+) *$/i

const TWO_KEYS =
  'X-Api-Key and Authorization carry two different API keys, so neither was used. Send one of them.'
