import type { OperationRow } from '../api/operation-row.js'
import { parseIdempotencyKey } from '../api/parse-idempotency.js'
import type { AuthenticatedKey } from '../auth/api-key.js'
import { authorizeOperation } from '../auth/authorize.js'
import { ok, type Result } from '../errors/fault.js'
import { drilledHandler } from '../operations/drilled-handler.js'
import { type AgentHandler, prepareCall } from '../operations/prepare-call.js'
import type { HttpRequest } from './app.js'
import { type BodyHead, type BodyResult, readBody, readBodyHead } from './body.js'
import {
  admitWithBody,
  payAsItComes,
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
 * A route for callers with a key, made from its row of the operations table, in the order of
 * CONTRACT.md, "Order of checks": key → rate → permission → frozen → capacity for a write →
 * `allowed_chains` → the request's form → the operation.
 */

export function createAgentRoute(
  row: OperationRow,
  handler: AgentHandler,
  deps: RouteDeps,
): RouteHandler {
  const route = { row, handler, plan: planInput(row.path, row.input) }
  return (response, request, form) => {
    Exchange.serve(deps, row.name, response, request, form, (exchange, head) => {
      const authenticated = deps.authenticate(head.xApiKey)
      if (!authenticated.ok) {
        const count = () => deps.failedAuthentications.take(exchange.clientAddress())
        refuseUnauthenticated(exchange, count, authenticated.fault)
        return
      }
      const caller = authenticated.value
      exchange.wipeAfterwards(caller.proofKey)
      const bodyHead = row.method === 'GET' ? null : readBodyHead(head)
      const declared = bodyHead?.declaredBytes ?? null
      if (!admitWithBody(exchange, deps.rateLimit, caller.rateLineage, declared)) return
      const denied = authorizeOperation(caller, row)
      if (denied !== null) exchange.refuse(denied)
      // The parser drops the body, which nothing reads, and the connection stays usable.
      else if (row.movesValue && deps.refusesWrite(caller.key)) exchange.refuseOverloaded()
      else serve(exchange, request, head, caller, route, bodyHead, deps)
    })
  }
}

interface AgentRoute {
  readonly row: OperationRow
  readonly handler: AgentHandler
  readonly plan: InputPlan
}

function serve(
  exchange: Exchange,
  request: HttpRequest,
  head: Readonly<RequestHead>,
  caller: AuthenticatedKey,
  route: AgentRoute,
  /** Null if the request has no body to read. */
  bodyHead: BodyHead | null,
  { rateLimit, drilled }: RouteDeps,
): void {
  if (bodyHead === null) {
    const input = readPathAndQuery(request, route.plan)
    if (input.ok) execute(exchange, caller, route, input.value, null)
    else exchange.refuse(input.fault)
    return
  }
  const path = readPath(request, route.plan)
  const idempotencyKey = route.row.movesValue
    ? parseIdempotencyKey(head.idempotencyKey, head.xIdempotencyKey)
    : ok(null)
  const { countersignFault } = head
  const asked =
    countersignFault === '' || !route.row.movesValue
      ? null
      : drilledHandler(drilled ?? null, route.row, countersignFault)
  const pay = payAsItComes(exchange, rateLimit, caller.rateLineage, bodyHead.declaredBytes)
  const serveBody = (body: BodyResult): void => {
    try {
      const input = body.ok ? readInput(path, body.value) : body
      if (!input.ok) exchange.refuse(input.fault)
      else if (!idempotencyKey.ok) exchange.refuse(idempotencyKey.fault)
      else if (asked === null) execute(exchange, caller, route, input.value, idempotencyKey.value)
      else if (!asked.ok) exchange.refuse(asked.fault)
      else {
        const handled = { ...route, handler: asked.value }
        execute(exchange, caller, handled, input.value, idempotencyKey.value)
      }
    } catch (error) {
      exchange.fail(error)
    }
  }
  readBody(exchange, bodyHead, 'json', serveBody, pay)
}

function readInput(path: Result<RawInput>, body: Buffer): Result<RawInput> {
  if (!path.ok) return path
  const json = parseJsonObject(body)
  return json.ok ? mergePathAndBody(path.value, json.value) : json
}

function execute(
  exchange: Exchange,
  caller: AuthenticatedKey,
  route: AgentRoute,
  raw: RawInput,
  idempotencyKey: string | null,
): void {
  const call = prepareCall(route.row, caller, exchange.requestId, raw, idempotencyKey)
  if (call.ok) runOperation(exchange, () => route.handler(call.value.context, call.value.input))
  else exchange.refuse(call.fault)
}
