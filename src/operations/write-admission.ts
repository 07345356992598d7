import { type OperationName, operations } from '../api/operations.js'
import type { ApiKey } from '../domain/api-key.js'
import type { KeyId, UserId } from '../domain/ids.js'
import { type Fault, fault } from '../errors/fault.js'
import { createActiveLimit } from './active-limit.js'
import type { AgentContext, AgentHandlers, Answer } from './context.js'
import { FairQueue, PlainQueue } from './fair-queue.js'

/**
 * Decides which calls that move value are at work, which wait, and which are answered `503
 * OVERLOADED` with nothing done. A burst of up to half of all places waits its turn; under lasting
 * overload nothing waits for long, so that admitted calls keep the latency of full load.
 */
export interface WriteAdmission {
  /**
   * Called before a call's body is read; true if it would have no place, so that refusing it costs
   * almost nothing. A true counts as a refusal.
   */
  refuses(caller: WriteCaller): boolean
  /** True if the call may proceed, perhaps later; pair each true with one `leave`. */
  enter(caller: WriteCaller): boolean | Promise<boolean>
  /**
   * @param delayMs time the call took inside this host (possibly with a clock step); null if
   * unknown
   */
  leave(caller: WriteCaller, delayMs: number | null): void
  /** Calls at work. */
  readonly active: number
  readonly waiting: number
  /** The number that may be at work, derived from the delay. */
  readonly activeMax: number
  /** Refusals since the start. */
  readonly refusals: number
}

/** The call's owner: places are shared among users, and those of a user among its keys. */
export type WriteCaller = Pick<ApiKey, 'userId' | 'keyId'>

/**
 * A second of work at full speed, so that an agent's burst of hundreds is accepted; more would only
 * wait.
 */
export const WRITES_IN_FLIGHT_MAX = 1_024

interface WriteAdmissionOptions {
  /** Calls at work and waiting, together. */
  readonly inFlightMax: number
  /** Monotonic clock, in milliseconds. */
  readonly nowMs: () => number
}

/** Share of all places that any call may take while nothing is shed; the others are kept. */
const OPEN_SHARE = 0.5
/** While shedding, this share of what may be at work is kept, besides what any call may take. */
const SHEDDING_KEPT_SHARE = 0.25
/**
 * Share of the kept places for keys below their even share whose user has its own; however many
 * keys that user has, the others belong to other users.
 */
const KEPT_FOR_KEYS_SHARE = 0.5

type Slot = 'at work' | 'waiting' | 'none'

interface WaitingCall {
  readonly caller: WriteCaller
  readonly go: (may: boolean) => void
}

/** Counts the calls of each owner, at work and waiting. */
class Held<Owner> {
  readonly #calls = new Map<Owner, number>()

  add(owner: Owner): void {
    this.#calls.set(owner, (this.#calls.get(owner) ?? 0) + 1)
  }

  release(owner: Owner): void {
    const own = this.#calls.get(owner) ?? 0
    if (own <= 1) this.#calls.delete(owner)
    else this.#calls.set(owner, own - 1)
  }

  /**
   * Counted with one more owner than there are, so that a flood leaves a place for the next owner.
   */
  hasEvenShare(owner: Owner, places: number): boolean {
    const own = this.#calls.get(owner) ?? 0
    return own > 0 && own * (this.#calls.size + 1) >= places
  }
}

/**
 * Up to half of the places go to the first to come, so that a single agent can have its bursts. Of
 * the others, users below their even share may take all, because a user may have any number of
 * keys; keys below theirs, of a user above its own, may take a part, so that one agent that floods
 * does not stop its user's others. While shedding nothing waits, because that would delay everybody
 * by a round: places go to the first to come, and a few more are kept in the same way.
 */
export function createWriteAdmission(options: WriteAdmissionOptions): WriteAdmission {
  const { inFlightMax, nowMs } = options
  const limit = createActiveLimit(inFlightMax)
  const byKey = () => new FairQueue(keyOf, () => new PlainQueue<WaitingCall>())
  const queue = new FairQueue(userOf, byKey)
  const heldByUser = new Held<UserId>()
  const heldByKey = new Held<KeyId>()
  let active = 0
  let refusals = 0

  function advance(): void {
    if (limit.advance(nowMs(), active, queue.size)) refuseWaiting()
  }

  /** Calls that waited since before the overload was noticed would be the slowest of all. */
  function refuseWaiting(): void {
    for (let next = queue.take(); next !== undefined; next = queue.take()) {
      release(next.caller)
      refuse()
      next.go(false)
    }
  }

  function refuse(): void {
    limit.refused()
    refusals++
  }

  function release({ userId, keyId }: WriteCaller): void {
    heldByUser.release(userId)
    heldByKey.release(keyId)
  }

  /** The part of the kept places that the next call may use. */
  function keptFor({ userId, keyId }: WriteCaller): number {
    const places = limit.shedding ? limit.max : inFlightMax
    if (!heldByUser.hasEvenShare(userId, places)) return 1
    return heldByKey.hasEvenShare(keyId, places) ? 0 : KEPT_FOR_KEYS_SHARE
  }

  function slotOf(caller: WriteCaller): Slot {
    const taken = active + queue.size
    if (taken >= inFlightMax) return 'none'
    if (limit.shedding) {
      const kept = Math.ceil(limit.max * SHEDDING_KEPT_SHARE * keptFor(caller))
      return active < limit.max + kept ? 'at work' : 'none'
    }
    const open = inFlightMax * OPEN_SHARE
    const kept = inFlightMax - open
    if (taken >= open && taken >= open + kept * keptFor(caller)) return 'none'
    return active < limit.max && queue.size === 0 ? 'at work' : 'waiting'
  }

  return {
    refuses(caller) {
      advance()
      if (slotOf(caller) !== 'none') return false
      refuse()
      return true
    },
    enter(caller) {
      advance()
      const slot = slotOf(caller)
      if (slot === 'none') {
        refuse()
        return false
      }
      limit.arrived()
      heldByUser.add(caller.userId)
      heldByKey.add(caller.keyId)
      if (slot === 'at work') {
        active++
        return true
      }
      return new Promise((resolve) => queue.push({ caller, go: resolve }))
    },
    leave(caller, delayMs) {
      release(caller)
      active--
      limit.completed(delayMs)
      advance()
      while (active < limit.max) {
        const next = queue.take()
        if (next === undefined) break
        active++
        next.go(true)
      }
      if (queue.size === 0) limit.drained()
    },
    get active() {
      return active
    },
    get waiting() {
      return queue.size
    },
    get activeMax() {
      return limit.max
    },
    get refusals() {
      return refusals
    },
  }
}

function userOf({ caller }: WaitingCall): UserId {
  return caller.userId
}

function keyOf({ caller }: WaitingCall): KeyId {
  return caller.keyId
}

/**
 * Operations that take no place but create something that may spend; a key whose creation is
 * uncertain is useless.
 */
const STOPPED_TOO: ReadonlySet<OperationName> = new Set(['create_child_key'])

type Handler = (context: AgentContext, input: never) => Answer<unknown> | Promise<Answer<unknown>>

/**
 * The same handlers; those that move value answer OVERLOADED while there is no place.
 * @param stopped why no operation that may move value may begin now, or null; called for each call
 */
export function admitWrites(
  handlers: AgentHandlers,
  admission: WriteAdmission,
  stopped: () => Fault | null = () => null,
): AgentHandlers {
  const admitted: Record<string, Handler> = { ...handlers }
  for (const { name, movesValue } of operations) {
    if (movesValue) admitted[name] = admitting(handlers[name], admission, stopped)
    else if (STOPPED_TOO.has(name)) admitted[name] = unlessStopped(handlers[name], stopped)
  }
  return admitted as unknown as AgentHandlers
}

function unlessStopped(handler: Handler, stopped: () => Fault | null): Handler {
  return (context, input) => {
    const reason = stopped()
    return reason === null ? handler(context, input) : { ok: false, fault: reason }
  }
}

function admitting(
  handler: Handler,
  admission: WriteAdmission,
  stopped: () => Fault | null,
): Handler {
  return async (context, input) => {
    const reason = stopped()
    if (reason !== null) return { ok: false, fault: reason }
    const { key } = context
    const entered = admission.enter(key)
    const admitted = entered instanceof Promise ? await entered : entered
    if (!admitted) return { ok: false, fault: fault('OVERLOADED') }
    let delayMs: number | null = null
    try {
      const answer = await handler(context, input)
      if (answer.ok) delayMs = answer.signingMs ?? null
      return answer
    } finally {
      admission.leave(key, delayMs)
    }
  }
}
