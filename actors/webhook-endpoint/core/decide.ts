import type { WebhookEndpoint } from '../../../src/domain/webhook.js'
import { fault, ok, type Result, refuse } from '../../../src/errors/fault.js'
import type {
  AttemptFinishedCommand,
  ChangeCommand,
  ConsoleCommand,
  EndpointCommand,
  EventsAppendedCommand,
  RedeliverCommand,
  RotateSecretCommand,
  TestCommand,
} from './commands.js'
import type { EndpointEffect, EndpointEvent } from './events.js'
import { evolve } from './evolve.js'
import { retryAtMs } from './retry-schedule.js'
import { startable } from './schedule.js'
import {
  type EndpointState,
  nextWakeAtMs,
  PENDING_MAX,
  PENDING_WITH_REQUESTED_MAX,
  SECRET_OVERLAP_MS,
  SECRETS_MAX,
  SEQ_UNKNOWN,
  wantsEvent,
} from './state.js'

export interface Decision {
  /** Stored in order before any effect runs. */
  readonly events: readonly EndpointEvent[]
  readonly effects: readonly EndpointEffect[]
  /** The answer to a command of the console: the endpoint after the change, or a refusal. */
  readonly reply?: Result<WebhookEndpoint>
}

interface Step {
  readonly events: readonly EndpointEvent[]
  readonly refusal?: Result<never>
}

/** Feeding waits until the window is half empty, so that one read of the log brings many events. */
const FEED_BELOW = PENDING_MAX / 2

/**
 * Decides one command: its own events, then whatever may start because of them.
 * @param state null for an endpoint that does not exist
 */
export function decide(state: EndpointState | null, command: EndpointCommand): Decision {
  const step = stepOf(state, command)
  if (step.refusal !== undefined) return { events: [], effects: [], reply: step.refusal }
  const after = step.events.reduce(evolve, state)
  const { events, effects } = proceed(after, command.nowMs)
  const all = [...step.events, ...events]
  if (!isConsoleCommand(command)) return { events: all, effects }
  // A removed endpoint is answered in its last form.
  const endpoint = after?.endpoint ?? state?.endpoint
  const reply = endpoint === undefined ? refuse(fault('NOT_FOUND')) : ok(endpoint)
  return { events: all, effects, reply }
}

function stepOf(state: EndpointState | null, command: EndpointCommand): Step {
  if (command.type === 'register') {
    if (state !== null) return { events: [] }
    const { endpoint, cursor, nowMs } = command
    return { events: [{ type: 'registered', endpoint, cursor, atMs: nowMs }] }
  }
  if (state === null) {
    return isConsoleCommand(command)
      ? { events: [], refusal: refuse(fault('NOT_FOUND')) }
      : { events: [] }
  }
  switch (command.type) {
    case 'change':
      return { events: change(state, command) }
    case 'remove':
      return { events: [{ type: 'removed', atMs: command.nowMs }] }
    case 'rotate-secret':
      return rotateSecret(state, command)
    case 'test':
    case 'redeliver':
      return requestDelivery(state, command)
    case 'events-appended':
      return { events: takeLog(state, command) }
    case 'attempt-finished':
      return { events: finishAttempt(state, command) }
    case 'tick':
      return { events: [] }
    case 'checkpoint':
      return { events: [{ type: 'checkpointed', atMs: command.nowMs }] }
    case 'recover': {
      const eventIds = state.pending
        .filter(({ attemptId }) => attemptId !== 0)
        .map(({ eventId }) => eventId)
      return { events: [{ type: 'attempts-interrupted', eventIds, atMs: command.nowMs }] }
    }
  }
}

function isConsoleCommand(command: EndpointCommand): command is ConsoleCommand {
  return !['events-appended', 'attempt-finished', 'tick', 'checkpoint', 'recover'].includes(
    command.type,
  )
}

/** Starts what may start, and reads more of the log when there is room. */
function proceed(
  state: EndpointState | null,
  nowMs: number,
): { events: EndpointEvent[]; effects: EndpointEffect[] } {
  if (state === null) return { events: [], effects: [{ type: 'wake', atMs: null }] }
  const events: EndpointEvent[] = []
  const effects: EndpointEffect[] = []
  let attemptId = state.attemptsStarted
  for (const { eventId } of startable(state, nowMs)) {
    attemptId++
    events.push({ type: 'attempt-started', eventId, attemptId, atMs: nowMs })
    effects.push({ type: 'deliver', eventId, attemptId })
  }
  const room = PENDING_MAX - state.pending.length
  const enabled = state.disabledBecause === null
  if (enabled && state.behind && state.feed === 'idle' && room >= FEED_BELOW) {
    events.push({ type: 'feed-requested', atMs: nowMs })
    effects.push({ type: 'feed', afterSeq: state.cursor, limit: room })
  }
  const after = events.reduce<EndpointState | null>(evolve, state)
  effects.push({ type: 'wake', atMs: after === null ? null : nextWakeAtMs(after, nowMs) })
  return { events, effects }
}

function change(state: EndpointState, { changes, nowMs }: ChangeCommand): EndpointEvent[] {
  const { status, ...rest } = changes
  const events: EndpointEvent[] = []
  if (Object.keys(rest).length > 0) events.push({ type: 'changed', changes: rest, atMs: nowMs })
  if (status === 'enabled' && state.disabledBecause !== null) {
    events.push({ type: 'enabled', atMs: nowMs })
  } else if (status === 'disabled' && state.disabledBecause === null) {
    events.push({ type: 'disabled', because: 'console', atMs: nowMs })
  }
  return events
}

function rotateSecret(state: EndpointState, { sealed, nowMs }: RotateSecretCommand): Step {
  const expiresAtMs = nowMs + SECRET_OVERLAP_MS
  const stillSigning = state.endpoint.secrets
    .filter((old) => old.expiresAtMs === null || old.expiresAtMs > nowMs)
    .map((old) => ({ sealed: old.sealed, expiresAtMs: old.expiresAtMs ?? expiresAtMs }))
  if (stillSigning.length >= SECRETS_MAX) {
    const message = `At most ${SECRETS_MAX} secrets may sign at once; wait until an old one expires.`
    const firstMs = Math.min(...stillSigning.map((old) => old.expiresAtMs)) - nowMs
    const details = { retry_after_seconds: Math.ceil(firstMs / 1_000) }
    return { events: [], refusal: refuse(fault('RATE_LIMITED', details, message)) }
  }
  const secrets = [{ sealed, expiresAtMs: null }, ...stillSigning]
  return { events: [{ type: 'secrets-set', secrets, atMs: nowMs }] }
}

function requestDelivery(state: EndpointState, command: TestCommand | RedeliverCommand): Step {
  const { eventId, nowMs } = command
  const seq = command.type === 'test' ? SEQ_UNKNOWN : command.seq
  if (state.disabledBecause !== null) {
    const message = 'The webhook endpoint is disabled; enable it first.'
    return { events: [], refusal: refuse(fault('INVALID_REQUEST', {}, message)) }
  }
  const existing = state.pending.find((delivery) => delivery.eventId === eventId)
  if (existing !== undefined) {
    const waits = existing.phase === 'waiting' && existing.nextTryAtMs > nowMs
    return { events: waits ? [{ type: 'delivery-hastened', eventId, atMs: nowMs }] : [] }
  }
  // The event will come from the log in its turn; sending it now as well would break its lane's
  // order.
  if (command.type === 'redeliver' && seq > state.cursor && wantsEvent(state, command.eventType)) {
    return { events: [] }
  }
  if (state.pending.length >= PENDING_WITH_REQUESTED_MAX) {
    const message = 'Too many deliveries of this endpoint are waiting; try again later.'
    return { events: [], refusal: refuse(fault('OVERLOADED', {}, message)) }
  }
  const origin = command.type === 'test' ? 'test' : 'redelivery'
  return { events: [{ type: 'delivery-requested', eventId, seq, origin, atMs: nowMs }] }
}

function takeLog(state: EndpointState, command: EventsAppendedCommand): EndpointEvent[] {
  const { afterSeq, events, nowMs, source } = command
  if (source !== 'live') return [takeSlice(state, command)]
  // Enabling reads the log from the cursor, so nothing needs to be noted until then.
  if (state.disabledBecause !== null) return []
  if (afterSeq > state.cursor) {
    // A gap: earlier events were not shown. They come with the feed that `behind` requests.
    const feed = state.feed === 'idle' ? 'idle' : 'outdated'
    if (state.behind && feed === state.feed) return []
    return [
      { type: 'log-taken', queued: [], cursor: state.cursor, behind: true, feed, atMs: nowMs },
    ]
  }
  if (command.throughSeq <= state.cursor && events.every(({ seq }) => seq <= state.cursor))
    return []
  return [takeSlice(state, command)]
}

function takeSlice(state: EndpointState, command: EventsAppendedCommand): EndpointEvent {
  const { source, nowMs } = command
  const queued = []
  let room = PENDING_MAX - state.pending.length
  let cursor = Math.max(state.cursor, command.throughSeq)
  let overflowed = false
  for (const { eventId, seq, type, laneKey } of command.events) {
    if (seq <= state.cursor || !wantsEvent(state, type)) continue
    if (room <= 0) {
      cursor = seq - 1
      overflowed = true
      break
    }
    queued.push({ eventId, seq, laneKey })
    room--
  }
  const caughtUp = source === 'feed-to-end' && state.feed === 'requested'
  return {
    type: 'log-taken',
    queued,
    cursor,
    behind: overflowed || (state.behind && !caughtUp),
    feed: source === 'live' ? state.feed : 'idle',
    atMs: nowMs,
  }
}

function finishAttempt(state: EndpointState, command: AttemptFinishedCommand): EndpointEvent[] {
  const { eventId, attemptId, outcome, nowMs } = command
  const delivery = state.pending.find((pending) => pending.eventId === eventId)
  if (delivery === undefined || delivery.attemptId !== attemptId) return []
  const nextTryAtMs =
    outcome.kind === 'retry'
      ? retryAtMs(delivery.failures + 1, nowMs, command.jitter, outcome.retryAfterMs)
      : null
  const failed = nextTryAtMs === null ? 'exhausted' : 'retry'
  const finished: EndpointEvent = {
    type: 'attempt-finished',
    eventId,
    attemptId,
    result: outcome.kind === 'retry' ? failed : outcome.kind,
    status: outcome.status,
    error: outcome.error,
    durationMs: outcome.durationMs,
    nextTryAtMs,
    atMs: nowMs,
  }
  if (outcome.kind !== 'gone' || state.disabledBecause !== null) return [finished]
  return [finished, { type: 'disabled', because: 'gone', atMs: nowMs }]
}
