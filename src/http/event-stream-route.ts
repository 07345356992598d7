import { eventStream } from '../api/console-streams.js'
import { parseInput } from '../api/parse.js'
import { authorizeRole } from '../auth/authorize.js'
import { fault } from '../errors/fault.js'
import type { ConsoleContext, ConsoleHandlers } from '../operations/context.js'
import type { HttpRequest } from './app.js'
import { identify } from './console-route.js'
import { admit, type RouteDeps, type RouteHandler } from './deps.js'
import { type EventStreams, STREAMS_PER_USER_MAX } from './event-stream.js'
import type { AnswerForm } from './exchange.js'
import { Exchange } from './exchange.js'
import type { RequestHead } from './request-head.js'
import { type InputPlan, planInput, readPathAndQuery } from './request-input.js'

/** Streams the event log: bearer token → rate → place → the log's first page → new events. */

const CONTENT_TYPE = 'text/event-stream'
/**
 * The most events of a caller that may wait to be sent: some 30 kB, or 6 MB with the longest
 * calldata.
 */
const PAGE = 25
const SEQ = /^\d{1,16}$/

interface StreamRoute {
  readonly listEvents: ConsoleHandlers['list_events']
  readonly plan: InputPlan
  readonly streams: EventStreams
}

export function createEventStreamRoute(
  listEvents: ConsoleHandlers['list_events'],
  deps: RouteDeps,
): RouteHandler {
  const { streams } = deps
  const plan = planInput(eventStream.path, eventStream.input)
  const route: StreamRoute = { listEvents, plan, streams }
  return (response, request, form) => {
    Exchange.serve(deps, eventStream.name, response, request, form, (exchange, head) => {
      exchange.detach()
      void serve(exchange, request, head, form, route, deps).catch((error: unknown) =>
        exchange.fail(error),
      )
    })
  }
}

async function serve(
  exchange: Exchange,
  request: HttpRequest,
  head: Readonly<RequestHead>,
  form: AnswerForm,
  { listEvents, plan, streams }: StreamRoute,
  deps: RouteDeps,
): Promise<void> {
  // Everything needed of the request object is read here, because it is invalid after the first
  // await.
  const { authorization } = head
  const raw = readPathAndQuery(request, plan)
  const lastEventId = headerOf(request, 'last-event-id')
  const identity = await identify(exchange, authorization, deps)
  if (identity === null) return
  const { userId, personId, role, email, expiresAtMs } = identity
  if (!admit(exchange, deps.rateLimit, personId)) return
  const denied = authorizeRole(identity.role, eventStream)
  if (denied !== null) {
    exchange.refuse(denied)
    return
  }
  const input = raw.ok ? parseInput(eventStream.input, raw.value) : raw
  if (!input.ok) {
    exchange.refuse(input.fault)
    return
  }
  if (form === 'head-only') {
    exchange.send({ status: 200, body: '', contentType: CONTENT_TYPE })
    return
  }
  const leave = streams.enter(personId)
  if (leave === null) {
    exchange.refuse(fault('OVERLOADED', {}, TOO_MANY))
    return
  }
  const after = SEQ.test(lastEventId) ? Number(lastEventId) : input.value.after
  const token = authorization.slice(authorization.lastIndexOf(' ') + 1)
  const { requestId } = exchange
  const context: ConsoleContext = {
    ...{ requestId, userId, personId, role, email, token, presentedKey: null },
  }
  const read = (from: number) => listEvents(context, { after: from, limit: PAGE })
  try {
    const from = after ?? deps.readableSeq(userId)
    const first = await read(from)
    if (!first.ok) {
      leave()
      exchange.refuse(first.fault)
      return
    }
    const reply = exchange.stream({
      status: 200,
      contentType: CONTENT_TYPE,
      cacheControl: 'no-cache, no-transform',
      // Without it nginx would buffer the pieces.
      headers: [['X-Accel-Buffering', 'no']],
    })
    const isMember = () => deps.isMember(identity)
    const opened = { userId, expiresAtMs, isMember, after: from, read, reply }
    const followed = streams.follow(opened, leave)
    if (exchange.aborted) followed.abort()
    else exchange.onAbort(followed.abort)
  } catch (error) {
    leave()
    throw error
  }
}

const TOO_MANY = `Too many event streams are open, for this user (at most ${STREAMS_PER_USER_MAX}) or in total. Close one, or try again later.`

function headerOf(request: HttpRequest, wanted: string): string {
  let found = ''
  request.forEach((name, value) => {
    if (name === wanted) found = value
  })
  return found
}
