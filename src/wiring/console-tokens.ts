import { type ConsoleTokenVerifier, createConsoleTokenVerifier } from '../auth/console-token.js'
import { fault, refuse } from '../errors/fault.js'

/** Takes the tokens of the issuer; without one, none. */
export function openConsoleTokens(config: {
  readonly identityIssuer: string | null
  readonly consoleAudience: string
}): Pick<ConsoleTokenVerifier, 'remembers' | 'verify'> {
  const { identityIssuer: issuer, consoleAudience: audience } = config
  if (issuer !== null) {
    return createConsoleTokenVerifier({ issuer, audience, jwksUrl: `${issuer}/jwks` })
  }
  const message = 'This service has no identity provider configured.'
  return {
    remembers: () => false,
    verify: async () => refuse(fault('INVALID_TOKEN', {}, message)),
  }
}
