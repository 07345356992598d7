import type { Freeze } from '../../../src/domain/freeze.js'
import type { ErrorCode } from '../../../src/errors/catalogue.js'
import { type Fault, fault } from '../../../src/errors/fault.js'
import type { Decision, Reply, ReplyToken } from '../../runtime/actor.js'
import type {
  FreezeAnswer,
  FreezeCommand,
  FreezesCommand,
  FreezesEffect,
  FreezesEvent,
  UnfreezeCommand,
} from './messages.js'
import type { FreezesState } from './state.js'

/**
 * The backoff after a failed attempt: it starts small and stays within seconds of the identity
 * provider's return.
 */
const REST_MS_MIN = 250
const REST_MS_MAX = 5_000
/** The most callers that wait for one acknowledgement. */
const WAITING_MAX = 100
/** The most freezes that are being lifted at once; a person lifts one at a time. */
const LIFTING_MAX = 16

/** The refusals after which the identity provider has lifted nothing. */
const NOTHING_LIFTED: ReadonlySet<ErrorCode> = new Set([
  'AUTHORIZATION_REQUIRED',
  'AUTHORIZATION_REFUSED',
  'PERMISSION_DENIED',
  'OVERLOADED',
])

/** The decisions are synchronous and deterministic. Each event is folded as it is emitted. */
export function decide(
  state: FreezesState,
  command: FreezesCommand,
  token: ReplyToken | null,
): Decision<FreezesEvent, FreezesEffect> {
  const turn = new Turn(state)
  switch (command.type) {
    case 'freeze':
      freeze(turn, command, token)
      break
    case 'unfreeze':
      unfreeze(turn, command, token)
      break
    case 'await-freeze':
      awaitFreeze(turn, command.name, token)
      break
    case 'notified':
      notified(turn, command.name, command.taken)
      break
    case 'lifted':
      lifted(turn, command)
      break
    case 'freezes-rested':
      state.resting = false
      break
    case 'load':
    case 'resume':
      break
  }
  notifyNext(turn)
  return turn
}

class Turn implements Decision<FreezesEvent, FreezesEffect> {
  readonly state: FreezesState
  readonly events: FreezesEvent[] = []
  readonly effects: FreezesEffect[] = []
  readonly replies: Reply[] = []

  constructor(state: FreezesState) {
    this.state = state
  }

  emit(event: FreezesEvent): void {
    evolve(this.state, event)
    this.events.push(event)
  }

  answer(token: ReplyToken | null, value: unknown): void {
    if (token !== null) this.replies.push({ token, result: { ok: true, value } })
  }

  refuse(token: ReplyToken | null, why: Fault): void {
    if (token !== null) this.replies.push({ token, result: { ok: false, fault: why } })
  }
}

export function evolve({ byName, pendingNotices }: FreezesState, event: FreezesEvent): void {
  const { freeze } = event
  if (event.type === 'unfrozen') byName.delete(freeze.name)
  else byName.set(freeze.name, freeze)
  const has = event.type !== 'unfrozen' && freeze.custody === 'pending'
  if (has) pendingNotices.add(freeze.name)
  else pendingNotices.delete(freeze.name)
}

/** Freezes the target; a target that is already frozen is answered with its first freeze. */
function freeze(turn: Turn, command: FreezeCommand, token: ReplyToken | null): void {
  const { target, reason, by, byPerson, requestId, nowMs } = command
  const { state } = turn
  const lifting = state.lifting.get(target.name)
  if (lifting !== undefined) lifting.refrozen = true
  const standing = state.byName.get(target.name)
  if (standing !== undefined) {
    turn.answer(token, standing)
    return
  }
  const { userId } = state
  const made: Freeze = { ...target, userId, sinceMs: nowMs, reason, by, custody: 'pending' }
  turn.emit({ type: 'frozen', freeze: made, requestId, byPerson })
  turn.effects.push({ type: 'stop', freeze: made, standing: state.byName })
  turn.answer(token, made)
}

/**
 * Lifts a freeze at the identity provider first, which verifies the user's proof: what it keeps
 * frozen signs nothing, whatever is decided here. It is asked even when nothing is frozen here, as
 * after a restore. During the request its flag counts as pending: after a crash with an unknown
 * outcome the flag is set there again.
 */
function unfreeze(turn: Turn, command: UnfreezeCommand, token: ReplyToken | null): void {
  const { pendingNotices, lifting, notifying, byName } = turn.state
  const { target, requestId, byPerson } = command
  if (lifting.has(target.name) || lifting.size >= LIFTING_MAX) {
    turn.refuse(token, fault('OVERLOADED', {}, 'This freeze is already being lifted.'))
  } else if (pendingNotices.has(target.name) || notifying === target.name) {
    const words = 'The identity provider has not confirmed the freeze yet; lift it once it has.'
    turn.refuse(token, fault('COSIGNER_UNAVAILABLE', {}, words))
  } else {
    lifting.set(target.name, { token, requestId, byPerson, refrozen: false })
    const standing = byName.get(target.name)
    if (standing !== undefined) noteCustody(turn, standing, 'pending')
    turn.effects.push({ type: 'lift', command })
  }
}

function lifted(
  turn: Turn,
  { target, result, nowMs }: Extract<FreezesCommand, { type: 'lifted' }>,
): void {
  const { lifting, byName } = turn.state
  const under = lifting.get(target.name)
  lifting.delete(target.name)
  const standing = byName.get(target.name)
  const token = under?.token ?? null
  if (!result.ok) {
    // When the outcome is unknown, the flag is set there again. A freeze made in the meantime may
    // never have reached it.
    const isAsItWas = NOTHING_LIFTED.has(result.fault.code) && under?.refrozen !== true
    if (standing !== undefined && isAsItWas) {
      noteCustody(turn, standing, 'current')
      answerWaiting(turn, target.name, 'current')
    }
    turn.refuse(token, result.fault)
    return
  }
  if (under?.refrozen === true) {
    const reason = { reason: 'frozen again in the meantime' }
    turn.refuse(token, fault('AUTHORIZATION_REFUSED', reason))
    return
  }
  const { authorizedBy } = result.value
  if (standing !== undefined) {
    const requestId = under?.requestId ?? ''
    const byPerson = under?.byPerson
    const who = { authorizedBy, requestId, byPerson }
    turn.emit({ type: 'unfrozen', freeze: standing, ...who, atMs: nowMs })
    turn.effects.push({ type: 'go-on', standing: byName })
    answerWaiting(turn, target.name, 'current')
  }
  turn.answer(token, { authorizedBy })
}

function awaitFreeze(turn: Turn, name: string, token: ReplyToken | null): void {
  if (token === null) return
  const { pendingNotices, notifying, waiting } = turn.state
  const present = waiting.get(name) ?? []
  if (!pendingNotices.has(name) && notifying !== name) {
    turn.answer(token, { custody: 'current' } satisfies FreezeAnswer)
  } else if (present.length >= WAITING_MAX) {
    turn.answer(token, { custody: 'pending' } satisfies FreezeAnswer)
  } else waiting.set(name, [...present, token])
}

function notified(turn: Turn, name: string, taken: boolean): void {
  const { state } = turn
  state.notifying = null
  const standing = state.byName.get(name)
  if (taken) {
    state.failures = 0
    state.pendingNotices.delete(name)
    if (standing?.custody === 'pending') {
      noteCustody(turn, standing, 'current')
    }
  } else {
    state.failures++
    state.resting = true
    const delayMs = Math.min(REST_MS_MIN * 2 ** Math.min(state.failures - 1, 10), REST_MS_MAX)
    turn.effects.push({ type: 'rest', delayMs })
  }
  answerWaiting(turn, name, taken ? 'current' : 'pending')
}

function noteCustody(turn: Turn, standing: Freeze, custody: Freeze['custody']): void {
  turn.emit({ type: 'custody-noted', freeze: { ...standing, custody } })
}

function answerWaiting(turn: Turn, name: string, custody: FreezeAnswer['custody']): void {
  const { waiting } = turn.state
  for (const token of waiting.get(name) ?? []) {
    turn.answer(token, { custody } satisfies FreezeAnswer)
  }
  waiting.delete(name)
}

/**
 * Notifies of one freeze at a time, and of none that is being lifted, so that the last message
 * carries the last decision.
 */
function notifyNext({ state, effects }: Turn): void {
  if (state.notifying !== null || state.resting) return
  for (const name of state.pendingNotices) {
    const standing = state.byName.get(name)
    if (standing === undefined || state.lifting.has(name)) continue
    state.notifying = name
    effects.push({ type: 'notify', freeze: standing })
    return
  }
}
