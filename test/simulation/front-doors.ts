import type { AskResult } from '../../actors/runtime/actor.js'
import { type Fault, fault } from '../../src/errors/fault.js'
import { TIMES } from '../../src/http/forward-to-leader.js'
import { unanswered } from '../../src/http/unanswered.js'
import { CALLERS } from './links.js'
import type { Machine, Machines } from './machines.js'
import type { PartedFaults } from './parted.js'
import { type Draw, drawOf } from './random.js'
import { arrive, isFrozen, type Life, type Scheduler } from './scheduler.js'
import type { Service } from './service.js'

/** What a caller hears in the end. */
export type Heard =
  | { readonly kind: 'answered'; readonly result: AskResult; readonly epoch: number }
  /** Of a node, before any actor was asked. */
  | { readonly kind: 'refused'; readonly fault: Fault }
  | { readonly kind: 'silence'; readonly wasConnected: boolean }

export interface Request {
  readonly method: 'GET' | 'POST'
  /** What the owner's actors and records are asked. */
  readonly serve: (service: Service) => Promise<AskResult>
  /** Where a node puts another request in its place: a fault to be found. */
  readonly again: () => Request
  /** Of a read, by a node that does not own the journal: a fault to be found. */
  readonly readAt: (machine: Machine) => AskResult
}

export interface FrontDoorsPorts {
  readonly seed: number
  readonly scheduler: Scheduler
  readonly machines: Machines
  readonly servedBy: (life: Life) => Service | null
  /** Of answers, how many are lost with their connection. */
  readonly unheard: () => number
  readonly faults: PartedFaults['forwards'] | null
}

type Reply = (heard: Heard) => void

/** One that was passed on, as `watched` of `forward-to-leader.ts` has it. */
interface UnderWay {
  readonly by: Life
  readonly to: Life
  readonly epoch: number
  readonly breakOff: () => void
}

const LATENCY_MS_MAX = 5
/** Of requests that one node passes on, how many find a connection that is there already. */
const POOLED = 0.5
/** A caller that waits for an answer waits so long. */
const PATIENCE_MS = 120_000
/** `leader-readiness.ts`: an owner that is looked at answers within this, or is not there. */
const SLOW_POLL_MS = 2_000
/** `standby-answers.ts`: of a request that came to a node which is not the owner. */
const NOT_HERE = fault('WRITES_STOPPED', { reason: 'standby' })

/**
 * How requests reach a machine, and the owner of the journal from there. A stand-in for HTTP and the
 * link of nodes, by the rules of `src/http/forward-to-leader.ts`, `send-on.ts` and
 * `src/service/node-link.ts`: what is said of a request that was not answered is the service's own code.
 */
export class FrontDoors {
  readonly #ports: FrontDoorsPorts
  readonly #draw: Draw
  /** What each process has been asked on connections that are open. */
  readonly #connections = new Map<Life, Set<() => void>>()
  readonly #underWay = new Set<UnderWay>()

  constructor(ports: FrontDoorsPorts) {
    this.#ports = ports
    this.#draw = drawOf(ports.seed, 'front doors')
    ports.machines.leaderChanged = ({ life, seen }) => {
      for (const each of [...this.#underWay]) {
        if (each.by === life && each.epoch !== seen?.epoch) each.breakOff()
      }
    }
  }

  /** A process has ended: who was connected to it hears that. */
  ended(life: Life): void {
    const lost = this.#connections.get(life) ?? []
    this.#connections.delete(life)
    for (const end of [...lost]) end()
  }

  /** @param heard called once */
  ask(machine: Machine, request: Request, heard: (heard: Heard) => void): void {
    const { scheduler } = this.#ports
    let isOver = false
    const settle: Reply = (answer) => {
      if (isOver) return
      isOver = true
      patience.cancel()
      heard(answer)
    }
    const patience = scheduler.after(PATIENCE_MS, () =>
      settle({ kind: 'silence', wasConnected: true }),
    )
    this.#connect(CALLERS, machine, this.#draw.chance(POOLED), {
      refused: () => settle({ kind: 'silence', wasConnected: false }),
      lost: () => settle({ kind: 'silence', wasConnected: true }),
      connected: (reply) => this.#handle(machine, request, reply),
      answered: settle,
    })
  }

  /** A connection, what is asked on it, and its answer, each as far as links let it through. */
  #connect(
    from: string,
    machine: Machine,
    isPooled: boolean,
    on: {
      readonly refused: () => void
      readonly lost: () => void
      readonly sent?: () => void
      readonly connected: (reply: Reply) => void
      readonly answered: Reply
    },
  ): void {
    const { scheduler, machines, unheard } = this.#ports
    const { life, name } = machine
    const way = machines.links.way(from, name)
    const latencyMs = () => 1 + this.#draw.integer(LATENCY_MS_MAX)
    const { nowMs } = scheduler
    if (!life.isAlive || !(machine.isWaiting || this.#ports.servedBy(life) !== null)) {
      scheduler.after(latencyMs(), on.refused)
      return
    }
    const opensAtMs = Math.max(way.opensAtMs('there'), way.opensAtMs('back'), life.frozenUntilMs)
    if (!isPooled && opensAtMs > nowMs + TIMES.connectMs) {
      scheduler.after(TIMES.connectMs, on.refused)
      return
    }
    on.sent?.()
    const open = this.#connections.get(life) ?? new Set()
    this.#connections.set(life, open)
    const end = () => {
      open.delete(end)
      // A machine that has ended says so, and what it says is cut off like all else.
      const endsMs = Math.max(scheduler.nowMs, way.opensAtMs('back')) + latencyMs()
      scheduler.at(endsMs, on.lost)
    }
    open.add(end)
    const reply: Reply = (answer) => {
      if (!open.has(end)) return
      if (this.#draw.chance(unheard())) {
        end()
        return
      }
      open.delete(end)
      const backMs = Math.max(scheduler.nowMs, way.opensAtMs('back')) + latencyMs()
      scheduler.at(backMs, () => on.answered(answer))
    }
    const thereMs = Math.max(nowMs, isPooled ? way.opensAtMs('there') : opensAtMs) + latencyMs()
    scheduler.at(thereMs, () => arrive(scheduler, life, () => on.connected(reply)))
  }

  #handle(machine: Machine, request: Request, reply: Reply): void {
    const service = this.#ports.servedBy(machine.life)
    if (service !== null) this.#serve(service, request, reply)
    else this.#forward(machine, request, reply)
  }

  /** As `admitWrites`: nothing that moves value is begun while there is a reason not to. */
  #serve(service: Service, request: Request, reply: Reply): void {
    const refusal = request.method === 'GET' ? null : service.refusal()
    if (refusal !== null) {
      reply({ kind: 'refused', fault: refusal })
      return
    }
    const { epoch } = service
    void request.serve(service).then((result) => reply({ kind: 'answered', result, epoch }))
  }

  #forward(machine: Machine, request: Request, reply: Reply): void {
    const { machines, scheduler, faults } = this.#ports
    const { seen, life } = machine
    const { method } = request
    if (faults === 'reads-by-itself' && method === 'GET') {
      reply({ kind: 'answered', result: request.readAt(machine), epoch: Number.MAX_SAFE_INTEGER })
      return
    }
    const leader = seen?.leader == null ? null : machines.named(seen.leader)
    const refuse = (wasConnected: boolean) =>
      reply({ kind: 'refused', fault: unanswered(method, wasConnected) })
    if (seen === null || leader === null || leader === machine) {
      refuse(false)
      return
    }
    let isConnected = false
    let isOver = false
    const whileAsked = (then: () => void) => () =>
      arrive(scheduler, life, () => {
        if (isOver) return
        isOver = true
        this.#underWay.delete(underWay)
        then()
      })
    const failed = whileAsked(() => {
      if (faults === 'again-after-unknown' && isConnected && method !== 'GET') {
        this.#handle(machine, request.again(), reply)
      } else refuse(isConnected && faults !== 'unknown-as-not-done')
    })
    const underWay = { by: life, to: leader.life, epoch: seen.epoch, breakOff: failed }
    this.#underWay.add(underWay)
    this.#connect(machine.name, leader, this.#draw.chance(POOLED), {
      ...{ refused: failed, lost: failed },
      sent: () => {
        isConnected = true
        this.#watch(machine, leader, underWay, scheduler.nowMs)
      },
      connected: (back) => this.#atLeader(leader, request, back),
      answered: (answer) => whileAsked(() => reply(answer))(),
    })
  }

  #atLeader(leader: Machine, request: Request, reply: Reply): void {
    const service = this.#ports.servedBy(leader.life)
    if (service === null) reply({ kind: 'refused', fault: NOT_HERE })
    else this.#serve(service, request, reply)
  }

  /** Ends what is not answered in time, unless the owner is there at each look. */
  #watch(machine: Machine, leader: Machine, one: UnderWay, sinceMs: number): void {
    const { scheduler, machines } = this.#ports
    scheduler.after(TIMES.probeMs, () => {
      if (!this.#underWay.has(one)) return
      const isLate = scheduler.nowMs - sinceMs >= TIMES.answerMs
      const answersAtMs = leader.life.frozenUntilMs
      const isThere =
        leader.life === one.to &&
        leader.life.isAlive &&
        machines.links.isOpen(machine.name, leader.name) &&
        (!isFrozen(scheduler, leader.life) || answersAtMs < scheduler.nowMs + SLOW_POLL_MS)
      if (!isLate && isThere) this.#watch(machine, leader, one, sinceMs)
      else scheduler.after(isLate || !leader.life.isAlive ? 1 : SLOW_POLL_MS, one.breakOff)
    })
  }
}
