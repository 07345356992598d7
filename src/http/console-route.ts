import type { ConsoleOperationRow } from '../api/console-operations.js'
import { parseInput } from '../api/parse.js'
import type { Result } from '../errors/fault.js'
import type { Answer, ConsoleContext } from '../operations/context.js'
import { readBodyLater } from './body.js'
import { admit, type RouteDeps, type RouteHandler, refuseUnauthenticated } from './deps.js'
import { Exchange } from './exchange.js'
import { parseJsonObject } from './json-body.js'
import {
  mergePathAndBody,
  planInput,
  type RawInput,
  readPath,
  readPathAndQuery,
} from './request-input.js'
import { runOperation } from './run-operation.js'

/** A console route: bearer token → rate of the user → the request's form → the operation. */

export type ConsoleHandler = (
  context: ConsoleContext,
  input: never,
) => Answer<unknown> | Promise<Answer<unknown>>

export function createConsoleRoute(
  row: ConsoleOperationRow,
  handler: ConsoleHandler,
  deps: RouteDeps,
): RouteHandler {
  const plan = planInput(row.path, row.input)
  return (response, request) => {
    const exchange = Exchange.open(deps, row.name, response, request)
    if (exchange === null) return
    exchange.detach()
    // All that comes from the request object is taken here: it is gone after the first await.
    const authorization = request.getHeader('authorization')
    const fromUrl = row.method === 'GET' ? readPathAndQuery(request, plan) : readPath(request, plan)
    const body = row.method === 'GET' ? null : readBodyLater(exchange, request, 'json')

    async function answer(open: Exchange): Promise<void> {
      const identity = await deps.verifyConsole(authorization)
      if (!identity.ok) {
        refuseUnauthenticated(open, deps.failedAuthentications, identity.fault)
        return
      }
      if (!admit(open, deps.rateLimit, identity.value.userId)) return
      const raw = body === null || !fromUrl.ok ? fromUrl : joinBody(fromUrl.value, await body)
      const input = raw.ok ? parseInput(row.input, raw.value) : raw
      if (!input.ok) {
        open.refuse(input.fault)
        return
      }
      const context: ConsoleContext = { requestId: open.requestId, ...identity.value }
      // The row's schema is what the handler's input type is inferred from.
      runOperation(open, () => handler(context, input.value as never))
    }

    void answer(exchange).catch((error: unknown) => exchange.fail(error))
  }
}

function joinBody(path: RawInput, body: Result<Uint8Array>): Result<RawInput> {
  if (!body.ok) return body
  const json = parseJsonObject(body.value)
  return json.ok ? mergePathAndBody(path, json.value) : json
}
