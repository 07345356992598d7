import { operations } from '../api/operations.js'
import type { KeyId } from '../domain/ids.js'
import { fault } from '../errors/fault.js'
import type { AgentContext, AgentHandlers, Answer } from './context.js'

/**
 * How many calls that move value are under way at once. What is admitted waits in no queue longer
 * than this one, so its latency stays what it is at full load; what comes on top is answered
 * `503 OVERLOADED` at once, with nothing done.
 */
export interface WriteAdmission {
  /** True when the call may go on; each true is paired with one `leave`. */
  enter(keyId: KeyId): boolean
  leave(keyId: KeyId): void
  readonly inFlight: number
}

/**
 * Up to half of the places go to whoever comes first, so that a lone agent has its bursts. Beyond,
 * a key that holds its even share already is refused; shares are counted with one key more than
 * there are, so that whoever floods leaves a place for the next who comes.
 */
export function createWriteAdmission(inFlightMax: number): WriteAdmission {
  const held = new Map<KeyId, number>()
  let inFlight = 0
  return {
    enter(keyId) {
      if (inFlight >= inFlightMax) return false
      const own = held.get(keyId) ?? 0
      const scarce = inFlight * 2 >= inFlightMax
      if (scarce && own > 0 && own * (held.size + 1) >= inFlightMax) return false
      held.set(keyId, own + 1)
      inFlight++
      return true
    },
    leave(keyId) {
      const own = held.get(keyId) ?? 0
      if (own <= 1) held.delete(keyId)
      else held.set(keyId, own - 1)
      inFlight--
    },
    get inFlight() {
      return inFlight
    },
  }
}

type Handler = (context: AgentContext, input: never) => Answer<unknown> | Promise<Answer<unknown>>

/** The same handlers; those that move value answer OVERLOADED while there is no place. */
export function admitWrites(handlers: AgentHandlers, admission: WriteAdmission): AgentHandlers {
  const admitted: Record<string, Handler> = { ...handlers }
  for (const { name, movesValue } of operations) {
    if (movesValue) admitted[name] = admitting(handlers[name], admission)
  }
  return admitted as unknown as AgentHandlers
}

function admitting(handler: Handler, admission: WriteAdmission): Handler {
  return async (context, input) => {
    const { keyId } = context.key
    if (!admission.enter(keyId)) return { ok: false, fault: fault('OVERLOADED') }
    try {
      return await handler(context, input)
    } finally {
      admission.leave(keyId)
    }
  }
}
