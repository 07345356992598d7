import { CUSTODY_ADDRESS } from '../../../actors/addresses.js'
import { isoTime } from '../../domain/iso-time.js'
import { ofRead } from '../../errors/outcome-unknown.js'
import type { ConsoleHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'

/**
 * Approver devices are added and removed at the identity provider, with a sign-in that this service
 * never sees.
 */
export function listAuthorizers({ actors }: OperationPorts): ConsoleHandlers['list_authorizers'] {
  return async ({ personId: userId }) => {
    const answer = await actors.ask(CUSTODY_ADDRESS, { type: 'list-authorizers', userId })
    if (!answer.ok) return ofRead(answer)
    const { authorizers, manageUrl } = answer.value
    return {
      ok: true,
      value: {
        authorizers: authorizers.map((authorizer) => ({
          authorizer_id: authorizer.authorizerId,
          kind: authorizer.kind,
          label: authorizer.label,
          created_at: isoTime(authorizer.createdAtMs),
          credential_id: authorizer.credentialId,
        })),
        manage_url: manageUrl,
      },
    }
  }
}
