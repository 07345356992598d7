import { type OperationName, operations } from '../api/operations.js'
import type { ApiKey } from '../domain/api-key.js'
import type { KeyId, UserId } from '../domain/ids.js'
import { type Fault, fault } from '../errors/fault.js'
import { createActiveLimit } from './active-limit.js'
import type { AgentContext, AgentHandlers, Answer } from './context.js'
import { FairQueue, PlainQueue } from './fair-queue.js'

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
  refuses(caller: WriteCaller): boolean
  /** True when the call may go on, perhaps later; each true is paired with one `leave`. */
  enter(caller: WriteCaller): boolean | Promise<boolean>
  /** @param delayMs what the call took inside this host (a clock's step may be in it); null: not known */
  leave(caller: WriteCaller, delayMs: number | null): void
  /** At work. */
  readonly active: number
  readonly waiting: number
  /** How many may be at work; found from the delay. */
  readonly activeMax: number
  /** Since the start. */
  readonly refusals: number
}

/** Whose call it is: places are shared out among users, and of one user's among its keys. */
export type WriteCaller = Pick<ApiKey, 'userId' | 'keyId'>

export interface WriteAdmissionOptions {
  /** At work and waiting, together. */
  readonly inFlightMax: number
  /** Monotonic clock, milliseconds. */
  readonly nowMs: () => number
}

/** Of all places, what anybody may take while nothing is shed; the rest is kept. */
const OPEN_SHARE = 0.5
/** While shedding, so much of what may be at work is kept, besides what anybody may take. */
const SHEDDING_KEPT_SHARE = 0.25
/**
 * Of what is kept, what keys below their even share may take though their user has its own: however
 * many keys that user has, the rest is other users'.
 */
const KEPT_FOR_KEYS_SHARE = 0.5

type Slot = 'at work' | 'waiting' | 'none'

interface WaitingCall {
  readonly caller: WriteCaller
  readonly go: (may: boolean) => void
}

/** The calls that each owner has, at work and waiting. */
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

  /** Counted with one owner more than there are, so that a flood leaves a place for who comes next. */
  hasEvenShare(owner: Owner, places: number): boolean {
    const own = this.#calls.get(owner) ?? 0
    return own > 0 && own * (this.#calls.size + 1) >= places
  }
}

/**
 * Up to half of the places go to whoever comes first, so that a lone agent has its bursts. Of the
 * rest, users below their even share may take all, since a user's keys are as many as it pleases;
 * keys below theirs, of a user that has its own, take a part, so that one agent that floods does not
 * stop its user's others. While shedding nothing waits, which would be a round of everybody else's
 * longer: a place is anybody's, and a few more are kept in the same way.
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

  /** What has waited since before the overload was noticed would be the slowest of all. */
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

  /** The part of what is kept that the next call may take of. */
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

/** They take no place, and make what may spend: a key whose making is not known is of no use to anybody. */
const STOPPED_TOO: ReadonlySet<OperationName> = new Set(['create_child_key'])

type Handler = (context: AgentContext, input: never) => Answer<unknown> | Promise<Answer<unknown>>

/**
 * The same handlers; those that move value answer OVERLOADED while there is no place.
 * @param stopped why nothing that moves value, or may, may begin now, or null; asked for each call
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
