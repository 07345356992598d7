import type { ConsoleHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'
import { freezeViewOrNull } from './views.js'

export function getUser({ freezes }: OperationPorts): ConsoleHandlers['get_user'] {
  return ({ userId, email }) => {
    const frozen = freezeViewOrNull(freezes.of(userId)?.user)
    return { ok: true, value: { user_id: userId, email, frozen } }
  }
}
