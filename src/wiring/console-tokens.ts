import { type ConsoleTokenVerifier, createConsoleTokenVerifier } from '../auth/console-token.js'
import { fault, refuse } from '../errors/fault.js'

/** Takes the tokens of the issuer; without one, none. */
export function openConsoleTokens(config: {
  readonly identityIssuer: string | null
  readonly identityJwksUrl: string | null
  readonly consoleAudience: string
}): Pick<ConsoleTokenVerifier, 'remembers' | 'verify'> {
  const { identityIssuer: issuer, identityJwksUrl, consoleAudience: audience } = config
  if (issuer !== null) {
    const jwksUrl = identityJwksUrl ?? `${issuer}/jwks`
    return createConsoleTokenVerifier({ issuer, audience, jwksUrl })
  }
  const message = 'This service has no identity provider configured.'
  return {
    remembers: () => false,
    verify: async () => refuse(fault('INVALID_TOKEN', {}, message)),
  }
}
