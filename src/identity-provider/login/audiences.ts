/**
 * `aud` of tokens for the authorizer routes. The wallet service never sees one, so that it cannot
 * add an authorizer with what a console sends it.
 */
export const AUTHORIZERS_AUDIENCE = 'urn:countersign:authorizers'
export const AUTHORIZERS_SCOPE = 'authorizers'
/** Adding an authorizer takes minutes, and its token opens nothing else. */
export const AUTHORIZERS_TOKEN_SECONDS = 600
