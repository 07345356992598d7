import type { Reader } from '../store/reader.js'
import type { Answer, ConsoleContext, ConsoleHandlers } from './context.js'

type Handler = (context: ConsoleContext, input: never) => Answer<unknown> | Promise<Answer<unknown>>

/**
 * Lets each call begin with the current store. Reads in one turn share a snapshot, which may be
 * older than what the caller has learned, from another answer or a webhook.
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
