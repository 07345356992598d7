import { interactionPolicy } from 'oidc-provider'
import { AUTHORIZERS_AUDIENCE, FRESH_SIGN_IN_SECONDS } from './audiences.js'

const { base, Check } = interactionPolicy

/**
 * Decides when people are asked for their password or passkey. Besides the package's own rules, a
 * token for the authorizers needs a recent sign-in: otherwise a stolen session could add the first
 * authorizer.
 */
export function freshForAuthorizers(): interactionPolicy.DefaultPolicy {
  const policy = base()
  policy.get('login')?.checks.add(
    new Check('fresh_sign_in', 'authorizers need a recent sign-in', ({ oidc }) => {
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
