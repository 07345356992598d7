/**
 * The `aud` of console tokens (RFC 8707). It is fixed, because the login, both domains that verify
 * tokens, the console and the command line must agree on it.
 */
export const CONSOLE_AUDIENCE = 'urn:countersign:console'
