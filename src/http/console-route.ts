import type { ConsoleOperationRow } from '../api/console-operation-row.js'
import { parseInput } from '../api/parse.js'
import { parseIdempotencyKey } from '../api/parse-idempotency.js'
import type { AuthenticatedKey } from '../auth/api-key.js'
import { authorizeRole } from '../auth/authorize.js'
import { tokensOfScannedRows } from '../auth/rate-limit.js'
import { claimedSubjectOf } from '../auth/unverified-tokens.js'
import { ok, type Result } from '../errors/fault.js'
import type { Answer, ConsoleContext } from '../operations/context.js'
import type { HttpRequest } from './app.js'
import { readBodyHead, readBodyLater } from './body.js'
import {
  admit,
  admitFurtherCalls,
  admitUnverified,
  type ConsoleIdentity,
  type RouteDeps,
  type RouteHandler,
  refuseUnauthenticated,
} from './deps.js'
import { Exchange } from './exchange.js'
import { parseJsonObject } from './json-body.js'
import type { RequestHead } from './request-head.js'
import {
  type InputPlan,
  mergePathAndBody,
  planInput,
  type RawInput,
  readPath,
  readPathAndQuery,
} from './request-input.js'
import { runOperation } from './run-operation.js'

/**
 * A console route: bearer token → rate of the person → role → the request's form → the operation.
 */

export type ConsoleHandler = (
  context: ConsoleContext,
  input: never,
) => Answer<unknown> | Promise<Answer<unknown>>

interface ConsoleRoute {
  readonly row: ConsoleOperationRow
  readonly handler: ConsoleHandler
  readonly plan: InputPlan
}

export function createConsoleRoute(
  row: ConsoleOperationRow,
  handler: ConsoleHandler,
  deps: RouteDeps,
): RouteHandler {
  const route: ConsoleRoute = { row, handler, plan: planInput(row.path, row.input) }
  return (response, request, form) => {
    Exchange.serve(deps, row.name, response, request, form, (exchange, head) => {
      exchange.detach()
      void serve(exchange, request, head, route, deps).catch((error: unknown) =>
        exchange.fail(error),
      )
    })
  }
}

async function serve(
  exchange: Exchange,
  request: HttpRequest,
  head: Readonly<RequestHead>,
  route: ConsoleRoute,
  deps: RouteDeps,
): Promise<void> {
  const { row, handler, plan } = route
  // Everything needed of the request object is read here, because it is invalid after the first
  // await.
  const { authorization } = head
  const keyHeader = row.presentsKey === true ? head.xApiKey : ''
  const named =
    row.isCreation === true
      ? parseIdempotencyKey(head.idempotencyKey, head.xIdempotencyKey)
      : ok(null)
  const isGet = row.method === 'GET'
  // Spec silent: a DELETE may name what it removes in the query or in a body, because many clients
  // and gateways send no body with it.
  const takesQuery = isGet || row.method === 'DELETE'
  const fromUrl = takesQuery ? readPathAndQuery(request, plan) : readPath(request, plan)
  const body = isGet ? null : readBodyLater(exchange, readBodyHead(head), 'json')

  const identity = await identify(exchange, authorization, deps)
  if (identity === null) return
  if (!admit(exchange, deps.rateLimit, identity.personId)) return
  const denied = authorizeRole(identity.role, row)
  if (denied !== null) {
    exchange.refuse(denied)
    return
  }
  const presented = keyHeader === '' ? ok(null) : deps.authenticate(keyHeader)
  if (!presented.ok) {
    const count = () => deps.failedAuthentications.take(exchange.clientAddress())
    refuseUnauthenticated(exchange, count, presented.fault)
    return
  }
  const presentedKey: AuthenticatedKey | null = presented.value
  if (presentedKey !== null) exchange.wipeAfterwards(presentedKey.proofKey)
  const raw = body === null || !fromUrl.ok ? fromUrl : joinBody(fromUrl.value, await body)
  const input = raw.ok ? parseInput(row.input, raw.value) : raw
  if (!input.ok) {
    exchange.refuse(input.fault)
    return
  }
  if (!named.ok) {
    exchange.refuse(named.fault)
    return
  }
  const calls = row.callsOf?.(input.value as never) ?? 1
  if (!admitFurtherCalls(exchange, deps.rateLimit, identity.personId, calls)) return
  const { userId, personId, role, email } = identity
  const token = authorization.slice(authorization.lastIndexOf(' ') + 1)
  const { requestId } = exchange
  const caller: ConsoleContext = {
    ...{ requestId, userId, personId, role, email, token, presentedKey },
  }
  const context = named.value === null ? caller : { ...caller, idempotencyKey: named.value }
  // The handler's input type is inferred from the row's schema.
  runOperation(exchange, () => {
    const before = deps.rowsScanned()
    const answer = handler(context, input.value as never)
    // If it answers at once, all rows scanned since are its own; an asynchronous one shares the
    // thread with others.
    const rows = 'then' in answer ? 0 : deps.rowsScanned() - before
    deps.rateLimit.charge(identity.personId, tokensOfScannedRows(rows))
    return answer
  })
}

/** Returns null if it has already answered. */
export async function identify(
  exchange: Exchange,
  authorization: string,
  deps: RouteDeps,
): Promise<ConsoleIdentity | null> {
  const { unverifiedTokens } = deps
  const isRemembered = deps.remembersConsole(authorization)
  const address = exchange.clientAddress()
  const caller = { address, claimedSubject: isRemembered ? '' : claimedSubjectOf(authorization) }
  if (!isRemembered && !admitUnverified(exchange, unverifiedTokens, caller)) return null
  const identity = await deps.verifyConsole(authorization)
  if (!identity.ok) {
    refuseUnauthenticated(exchange, () => unverifiedTokens.failed(caller), identity.fault)
    return null
  }
  const { personId } = identity.value
  if (!isRemembered) unverifiedTokens.verified({ address, claimedSubject: personId })
  return identity.value
}

function joinBody(path: RawInput, body: Result<Buffer>): Result<RawInput> {
  if (!body.ok) return body
  const json = parseJsonObject(body.value)
  return json.ok ? mergePathAndBody(path, json.value) : json
}
