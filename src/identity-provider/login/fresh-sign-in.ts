import { interactionPolicy } from 'oidc-provider'
import { AUTHORIZERS_AUDIENCE, FRESH_SIGN_IN_SECONDS } from './audiences.js'

const { base, Check } = interactionPolicy

/**
 * What asks people for their password, or their passkey: as the package has it, and once more where a
 * token for the authorizers is wanted under a session that is not of just now. Whoever took a session
 * away would else add a first authorizer by it.
 */
export function freshForAuthorizers(): interactionPolicy.DefaultPolicy {
  const policy = base()
  policy.get('login')?.checks.add(
    new Check('fresh_sign_in', 'authorizers take a sign-in of just now', ({ oidc }) => {
      const { session, result, resourceServers } = oidc
      const isForThem = Object.hasOwn(resourceServers ?? {}, AUTHORIZERS_AUDIENCE)
      const isOld = session?.past(FRESH_SIGN_IN_SECONDS) !== false
      return isForThem && isOld && result?.login === undefined
        ? Check.REQUEST_PROMPT
        : Check.NO_NEED_TO_PROMPT
    }),
  )
  return policy
}
