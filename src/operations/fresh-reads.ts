import type { Reader } from '../store/reader.js'
import type { Answer, ConsoleContext, ConsoleHandlers } from './context.js'

type Handler = (context: ConsoleContext, input: never) => Answer<unknown> | Promise<Answer<unknown>>

/**
 * Has each call begin with the store as it is now. Reads of a turn share a snapshot, which may be
 * older than what the caller has been told since, by another answer or by a webhook.
 */
export function readFresh(
  handlers: ConsoleHandlers,
  reader: Pick<Reader, 'fresh'>,
): ConsoleHandlers {
  const fresh: Record<string, Handler> = {}
  for (const [name, handler] of Object.entries<Handler>(handlers)) {
    fresh[name] = (context, input) => {
      reader.fresh()
      return handler(context, input)
    }
  }
  return fresh as unknown as ConsoleHandlers
}
