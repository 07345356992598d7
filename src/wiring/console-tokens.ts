import {
  type ConsoleTokenVerifier,
  type ConsoleUser,
  createConsoleTokenVerifier,
} from '../auth/console-token.js'
import { alone, roleIn } from '../custody/members/member-set.js'
import type { ServiceMembers } from '../custody/members/service-members.js'
import { type Cell, hasUser } from '../domain/cells.js'
import { CONSOLE_AUDIENCE } from '../domain/console-audience.js'
import type { Role } from '../domain/role.js'
import { ofAnotherCell } from '../errors/another-cell.js'
import { fault, ok, refuse } from '../errors/fault.js'
import { sha256 } from '../quorum-protocol/tagged.js'

type Members = Pick<ServiceMembers, 'members'>

export interface ConsoleTokens extends Pick<ConsoleTokenVerifier, 'remembers' | 'verify'> {
  /** Whether the person is still a member of the account, whatever a valid token says. */
  isMember(user: Pick<ConsoleUser, 'userId' | 'personId'>): boolean
}

/**
 * Accepts the issuer's tokens; without an issuer, none. The issuer states the person and the
 * account; this service itself knows the person's role, so that a removal or a lowered role takes
 * effect on tokens that were given before.
 * @param cell the cell of the accounts that are here
 */
export function openConsoleTokens(
  config: {
    readonly identityIssuer: string | null
    readonly identityJwksUrl: string | null
  },
  members: Members,
  cell: Cell,
): ConsoleTokens {
  const { identityIssuer: issuer, identityJwksUrl } = config
  const isMember: ConsoleTokens['isMember'] = (user) => roleOf(members, user) !== null
  if (issuer !== null) {
    const jwksUrl = identityJwksUrl ?? `${issuer}/jwks`
    const tokens = createConsoleTokenVerifier({ issuer, audience: CONSOLE_AUDIENCE, jwksUrl })
    return {
      isMember,
      remembers: tokens.remembers,
      async verify(header) {
        const verified = await tokens.verify(header)
        if (!verified.ok) return verified
        if (!hasUser(cell, verified.value.userId)) return refuse(ofAnotherCell())
        const role = roleOf(members, verified.value)
        if (role !== null) return ok({ ...verified.value, role })
        return refuse(fault('INVALID_TOKEN', {}, NO_MEMBER))
      },
    }
  }
  const message = 'This service has no identity provider configured.'
  return {
    isMember,
    remembers: () => false,
    verify: async () => refuse(fault('INVALID_TOKEN', {}, message)),
  }
}

const NO_MEMBER = 'You are not a member of this account, or no longer one.'

function roleOf(
  members: Members,
  { userId, personId }: Pick<ConsoleUser, 'userId' | 'personId'>,
): Role | null {
  return roleIn(members.members(sha256(Buffer.from(userId))) ?? alone(userId), personId)
}
