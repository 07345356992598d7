import { operations } from '../api/operations.js'
import type { KeyId } from '../domain/ids.js'
import { type Fault, fault } from '../errors/fault.js'
import { createActiveLimit } from './active-limit.js'
import type { AgentContext, AgentHandlers, Answer } from './context.js'
import { KeyQueues } from './key-queues.js'

/**
 * Which calls that move value are at work, which wait, and which are answered `503 OVERLOADED`
 * with nothing done. A burst of up to half of all places waits its turn; under lasting overload
 * nothing does for long, so that the latency of what is admitted stays what it is at full load.
 */
export interface WriteAdmission {
  /**
   * Asked before a call's body is read: true when it would have no place, so that refusing it
   * costs next to nothing. A true counts as a refusal.
   */
  refuses(keyId: KeyId): boolean
  /** True when the call may go on, perhaps later; each true is paired with one `leave`. */
  enter(keyId: KeyId): boolean | Promise<boolean>
  /** @param delayMs what the call took inside this host (a clock's step may be in it); null: not known */
  leave(keyId: KeyId, delayMs: number | null): void
  /** At work. */
  readonly active: number
  readonly waiting: number
  /** How many may be at work; found from the delay. */
  readonly activeMax: number
  /** Since the start. */
  readonly refusals: number
}

export interface WriteAdmissionOptions {
  /** At work and waiting, together. */
  readonly inFlightMax: number
  /** Monotonic clock, milliseconds. */
  readonly nowMs: () => number
}

/**
 * While shedding, this part of what may be at work is kept for keys below their even share, besides
 * what anybody may take.
 */
const KEPT_SHARE = 0.25

type Slot = 'at work' | 'waiting' | 'none'

/**
 * Up to half of the places go to whoever comes first, so that a lone agent has its bursts. Beyond,
 * a key that holds its even share already is refused; shares are counted with one key more than
 * there are, so that whoever floods leaves a place for the next who comes. While shedding nothing
 * waits, which would be a round of everybody else's longer: a place is anybody's, and a few more are
 * for keys below their share.
 */
export function createWriteAdmission(options: WriteAdmissionOptions): WriteAdmission {
  const { inFlightMax, nowMs } = options
  const limit = createActiveLimit(inFlightMax)
  const queues = new KeyQueues<{ readonly keyId: KeyId; readonly go: (may: boolean) => void }>()
  const held = new Map<KeyId, number>()
  let active = 0
  let refusals = 0

  function advance(): void {
    if (limit.advance(nowMs(), active, queues.size)) refuseWaiting()
  }

  /** What has waited since before the overload was noticed would be the slowest of all. */
  function refuseWaiting(): void {
    for (let next = queues.take(); next !== undefined; next = queues.take()) {
      release(next.keyId)
      refuse()
      next.go(false)
    }
  }

  function refuse(): void {
    limit.refused()
    refusals++
  }

  function release(keyId: KeyId): void {
    const own = held.get(keyId) ?? 0
    if (own <= 1) held.delete(keyId)
    else held.set(keyId, own - 1)
  }

  function slotOf(keyId: KeyId): Slot {
    const room = active < limit.max && queues.size === 0
    const placesMax = limit.shedding ? limit.max : inFlightMax
    const taken = active + queues.size
    if (taken >= inFlightMax) return 'none'
    const own = held.get(keyId) ?? 0
    const hasShare = own > 0 && own * (held.size + 1) >= placesMax
    if (limit.shedding) {
      const kept = hasShare ? 0 : Math.ceil(limit.max * KEPT_SHARE)
      return active < limit.max + kept ? 'at work' : 'none'
    }
    if (hasShare && taken * 2 >= inFlightMax) return 'none'
    return room ? 'at work' : 'waiting'
  }

  return {
    refuses(keyId) {
      advance()
      if (slotOf(keyId) !== 'none') return false
      refuse()
      return true
    },
    enter(keyId) {
      advance()
      const slot = slotOf(keyId)
      if (slot === 'none') {
        refuse()
        return false
      }
      limit.arrived()
      held.set(keyId, (held.get(keyId) ?? 0) + 1)
      if (slot === 'at work') {
        active++
        return true
      }
      return new Promise((resolve) => queues.push(keyId, { keyId, go: resolve }))
    },
    leave(keyId, delayMs) {
      release(keyId)
      active--
      limit.completed(delayMs)
      advance()
      while (active < limit.max) {
        const next = queues.take()
        if (next === undefined) break
        active++
        next.go(true)
      }
      if (queues.size === 0) limit.drained()
    },
    get active() {
      return active
    },
    get waiting() {
      return queues.size
    },
    get activeMax() {
      return limit.max
    },
    get refusals() {
      return refusals
    },
  }
}

type Handler = (context: AgentContext, input: never) => Answer<unknown> | Promise<Answer<unknown>>

/**
 * The same handlers; those that move value answer OVERLOADED while there is no place.
 * @param stopped why nothing that moves value may begin now, or null; asked for each call
 */
export function admitWrites(
  handlers: AgentHandlers,
  admission: WriteAdmission,
  stopped: () => Fault | null = () => null,
): AgentHandlers {
  const admitted: Record<string, Handler> = { ...handlers }
  for (const { name, movesValue } of operations) {
    if (movesValue) admitted[name] = admitting(handlers[name], admission, stopped)
  }
  return admitted as unknown as AgentHandlers
}

function admitting(
  handler: Handler,
  admission: WriteAdmission,
  stopped: () => Fault | null,
): Handler {
  return async (context, input) => {
    const reason = stopped()
    if (reason !== null) return { ok: false, fault: reason }
    const { keyId } = context.key
    const entered = admission.enter(keyId)
    const admitted = entered instanceof Promise ? await entered : entered
    if (!admitted) return { ok: false, fault: fault('OVERLOADED') }
    let delayMs: number | null = null
    try {
      const answer = await handler(context, input)
      if (answer.ok) delayMs = answer.signingMs ?? null
      return answer
    } finally {
      admission.leave(keyId, delayMs)
    }
  }
}
