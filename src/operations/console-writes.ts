import { type ConsoleOperationName, consoleOperations } from '../api/console-operations.js'
import type { Fault } from '../errors/fault.js'
import type { Answer, ConsoleContext, ConsoleHandlers } from './context.js'

/** What only takes away goes on: it writes little, and is most wanted when something is wrong. */
const GO_ON: ReadonlySet<ConsoleOperationName> = new Set(['revoke_key', 'delete_webhook'])

type Handler = (context: ConsoleContext, input: never) => Answer<unknown> | Promise<Answer<unknown>>

/**
 * The same handlers; those that write refuse while there is a reason to.
 * @param stopped why nothing may be written now, or null; asked for each call
 */
export function stopConsoleWrites(
  handlers: ConsoleHandlers,
  stopped: () => Fault | null,
): ConsoleHandlers {
  const guarded: Record<string, Handler> = { ...handlers }
  for (const { name, method } of consoleOperations) {
    if (method === 'GET' || GO_ON.has(name)) continue
    const handler: Handler = handlers[name]
    guarded[name] = (context, input) => {
      const reason = stopped()
      return reason === null ? handler(context, input) : { ok: false, fault: reason }
    }
  }
  return guarded as unknown as ConsoleHandlers
}
