import type { ConsoleHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'
import { placesOf } from './members.js'
import { freezeViewOrNull } from './views.js'

export function getUser(ports: OperationPorts): ConsoleHandlers['get_user'] {
  return (context) => {
    const { userId, email } = context
    const frozen = freezeViewOrNull(ports.freezes.of(userId)?.user)
    const { environment } = ports
    const value = { user_id: userId, environment, email, frozen, ...placesOf(ports, context) }
    return { ok: true, value }
  }
}
