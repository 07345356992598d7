/**
 * `aud` of tokens for the authorizer routes. Only the command line gets such tokens. The wallet
 * service never sees one, so it cannot add an authorizer with what a console sends it.
 */
export const AUTHORIZERS_AUDIENCE = 'urn:countersign:authorizers'
export const AUTHORIZERS_SCOPE = 'authorizers'
/** Adding an authorizer takes minutes, and the token is valid for nothing else. */
export const AUTHORIZERS_TOKEN_SECONDS = 600
/** Adding the first authorizer takes only a sign-in, so it must be a recent one. */
export const FRESH_SIGN_IN_SECONDS = 600
