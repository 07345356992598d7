/**
 * `aud` of tokens for the authorizer routes. The wallet service never sees one, so that it cannot
 * add an authorizer with what a console sends it: the command line alone is given any.
 */
export const AUTHORIZERS_AUDIENCE = 'urn:countersign:authorizers'
export const AUTHORIZERS_SCOPE = 'authorizers'
/** Adding an authorizer takes minutes, and its token opens nothing else. */
export const AUTHORIZERS_TOKEN_SECONDS = 600
/** The first authorizer rests on the sign-in alone, so it must be one of just now. */
export const FRESH_SIGN_IN_SECONDS = 600
