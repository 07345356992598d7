import { subWalletAddress } from '../../actors/addresses.js'
import type { AskResult } from '../../actors/runtime/actor.js'
import type { TxId } from '../../src/domain/ids.js'
import { type Fault, fault } from '../../src/errors/fault.js'
import { createReader, type Reader } from '../../src/store/reader.js'
import type { Callers, Wanted } from './callers.js'
import type { FrontDoors, Heard, Request } from './front-doors.js'
import type { Machine, Machines } from './machines.js'
import { type Draw, drawOf } from './random.js'
import type { Scheduler } from './scheduler.js'
import type { Service } from './service.js'

export interface AskedAnywherePorts {
  readonly seed: number
  readonly scheduler: Scheduler
  readonly machines: Machines
  readonly doors: FrontDoors
  readonly callers: Callers
  readonly wrong: (what: string) => void
  readonly note: (line: string) => void
}

/** As often as a caller asks for one thing, at one machine or another. */
const TRIES_MAX = 4
const AGAIN_MS_MAX = 5_000
const READ_MS_MAX = 20_000
const NOT_STORED = 'NOT_FOUND'

interface Acknowledged {
  readonly txId: TxId
  /** Of the owner that did. */
  readonly epoch: number
}

/**
 * Callers of a cluster, who know its machines and ask any of them. What they are told was not done they
 * ask for again, what nobody knows with the same Idempotency-Key alone.
 */
export class AskedAnywhere {
  readonly #ports: AskedAnywherePorts
  readonly #draw: Draw
  /** What is asked and not heard of yet. */
  readonly waiting = new Set<string>()
  /** Attempts of which a node said that nothing was done. */
  readonly #notDone = new Set<TxId>()
  readonly #acknowledged: Acknowledged[] = []

  constructor(ports: AskedAnywherePorts) {
    this.#ports = ports
    this.#draw = drawOf(ports.seed, 'asked anywhere')
  }

  ask(wanted: Wanted, tries = 1): void {
    const { doors, callers, machines, note } = this.#ports
    const machine = this.#draw.pick(machines.all)
    const { command, forbidden } = callers.attempt(wanted)
    const { txId } = command
    const what = `${wanted.kind} ${txId.slice(-6)} at ${machine.name}`
    this.waiting.add(what)
    note(`ask ${what}`)
    doors.ask(machine, this.#callOf(wanted, command), (heard) => {
      this.waiting.delete(what)
      note(`heard ${saidOf(heard)} of ${what}`)
      if (heard.kind === 'answered') {
        const { result, epoch } = heard
        callers.heard(wanted, what, forbidden, result)
        if (wanted.acknowledged !== null && result.ok) this.#acknowledge(wanted.acknowledged, epoch)
        return
      }
      const isUnknown =
        heard.kind === 'silence' ? heard.wasConnected : heard.fault.code === 'OUTCOME_UNKNOWN'
      if (isUnknown) wanted.unheard++
      else this.#notDone.add(txId)
      if (tries < TRIES_MAX && (!isUnknown || wanted.key !== null)) this.#askAgain(wanted, tries)
    })
  }

  /** Of what was said not to be done, what is there. */
  wrongAtRest(reader: Reader): string[] {
    return [...[...this.waiting].map((what) => `nobody answered ${what}`)].concat(
      [...this.#notDone].flatMap((txId) =>
        reader.transactions.byId(txId) === undefined
          ? []
          : [`${txId} is there, and a node said that nothing was done`],
      ),
    )
  }

  #askAgain(wanted: Wanted, tries: number): void {
    const { scheduler } = this.#ports
    scheduler.after(this.#draw.integer(AGAIN_MS_MAX), () => this.ask(wanted, tries + 1))
  }

  #callOf(wanted: Wanted, command: { readonly txId: TxId }): Request {
    const { madeWith } = wanted
    return {
      method: 'POST',
      serve: async (service) => {
        if (service.reader.keys.byId(madeWith.keyId) === undefined) return REFUSED
        return (await service.operations.actors.ask(
          subWalletAddress(madeWith),
          command as never,
        )) as AskResult
      },
      again: () =>
        this.#callOf(wanted, this.#ports.callers.attempt({ ...wanted, key: null }).command),
      readAt: () => REFUSED,
    }
  }

  /** From then on, whoever of its owners is asked knows of it, and each that comes after. */
  #acknowledge(txId: TxId, epoch: number): void {
    const one = { txId, epoch }
    this.#acknowledged.push(one)
    const { scheduler } = this.#ports
    scheduler.after(this.#draw.integer(READ_MS_MAX), () => this.#read(one))
  }

  #read({ txId, epoch }: Acknowledged): void {
    const { doors, machines, note, wrong } = this.#ports
    const machine = this.#draw.pick(machines.all)
    const what = `status ${txId.slice(-6)} at ${machine.name}`
    this.waiting.add(what)
    const read = (reader: Reader): AskResult =>
      reader.transactions.byId(txId) === undefined
        ? { ok: false, fault: fault('NOT_FOUND') }
        : { ok: true, value: null }
    const request: Request = {
      method: 'GET',
      serve: async (service: Service) => read(service.reader),
      again: () => request,
      readAt: ({ disk }: Machine) => read(createReader(disk.lookedAt)),
    }
    doors.ask(machine, request, (heard) => {
      this.waiting.delete(what)
      note(`heard ${saidOf(heard)} of ${what}`)
      if (heard.kind !== 'answered' || heard.result.ok || heard.epoch < epoch) return
      if (heard.result.fault.code === NOT_STORED)
        wrong(`${txId} was acknowledged, and is not found`)
    })
  }
}

const REFUSED: AskResult = { ok: false, fault: fault('UNAUTHENTICATED') }

function saidOf(heard: Heard): string {
  if (heard.kind === 'silence') return heard.wasConnected ? 'silence' : 'nobody'
  if (heard.kind === 'refused') return wordOf(heard.fault)
  return heard.result.ok ? 'ok' : wordOf(heard.result.fault)
}

function wordOf({ code, details }: Fault): string {
  return code === 'WRITES_STOPPED' ? `stopped-by-${details.reason}` : code
}
