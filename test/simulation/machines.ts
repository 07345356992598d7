import type { Timers } from '../../src/clock/timers.js'
import { JournalUnavailable } from '../../src/journal/journal.js'
import { createOwnerBeats, type OwnerBeats } from '../../src/journal/owner-beats.js'
import type { Environment } from '../../src/store/environment.js'
import { journalPositionOf } from '../../src/store/journal-position.js'
import type { JournalWriter } from '../../src/store/journal-writer.js'
import { openJournaledStore, PARTITION } from '../../src/store/journaled-store.js'
import { standBy } from '../../src/store/stand-by.js'
import type { Disk } from './disk.js'
import { Engine } from './engine.js'
import type { Cluster } from './features.js'
import type { Planted } from './planted.js'
import { type Draw, drawOf } from './random.js'
import { isFrozen, type Life, newLife, type Scheduler, timersOf } from './scheduler.js'
import { haveSameRows } from './view-oracles.js'

/** A process that owns the journal, and with it all users. */
export interface Owner {
  readonly life: Life
  readonly timers: Timers
  readonly environment: Environment
  readonly disk: Disk
  readonly writer: JournalWriter
}

export interface MachinesPorts {
  readonly seed: number
  readonly cluster: Cluster
  readonly planted: Planted | null
  readonly scheduler: Scheduler
  readonly entropy: Draw
  readonly diskOf: (draw: Draw) => Disk
  /** One has taken the journal: it serves from now on, and whoever did before may not know yet. */
  readonly took: (owner: Owner) => void
  readonly note: (line: string) => void
  readonly wrong: (what: string) => void
}

interface Machine {
  readonly name: string
  readonly disk: Disk
  life: Life
  beats: OwnerBeats | null
  /** Its clock, of the world's. */
  readonly aheadMs: number
  /** Until then it does not reach the journal. */
  cutUntilMs: number
}

const DEAD: Life = { isAlive: false, frozenUntilMs: 0 }
const START_MS_MAX = 3_000
const CUT_MS_MAX = 30_000
const AWAY_MS_MAX = 20_000
const FROZEN_MS_MAX = 15_000
const OWNER_FROZEN = 0.8

/**
 * Machines with a disk of their own over one journal. One is its owner; the others follow it, and one
 * of them takes over where it is silent. Each that ends starts again, and waits as a standby.
 */
export class Machines {
  readonly disks: readonly Disk[]
  readonly engine: Engine
  readonly #ports: MachinesPorts
  readonly #draw: Draw
  readonly #machines: readonly Machine[]
  #owner: Machine | null = null
  #epoch = 0

  constructor(ports: MachinesPorts) {
    this.#ports = ports
    const { seed, cluster, scheduler } = ports
    this.#draw = drawOf(seed, 'machines')
    this.engine = new Engine(scheduler, drawOf(seed, 'engine'), cluster)
    this.#machines = Array.from({ length: cluster.machines }, (_, at) => ({
      name: `machine ${at}`,
      disk: ports.diskOf(drawOf(seed, `disk ${at}`)),
      ...{ life: DEAD, beats: null, cutUntilMs: 0 },
      aheadMs: this.#draw.between(-cluster.clocksApartMs, cluster.clocksApartMs),
    }))
    this.disks = this.#machines.map(({ disk }) => disk)
  }

  start(): void {
    for (const machine of this.#machines) this.#start(machine)
  }

  /**
   * Who comes back waits for whoever took over. But no standby takes a journal without entries, so
   * the first to have one is started as its owner, by whoever sets them up.
   */
  #isStandby(machine: Machine): boolean {
    return machine !== this.#machines[0] || this.engine.hasEntries
  }

  calm(): void {
    this.engine.calm()
    for (const machine of this.#machines) machine.cutUntilMs = 0
  }

  /** The owner, or where there is none who may become it. */
  kill(isPowerLoss: boolean): void {
    const living = this.#machines.filter(({ life }) => life.isAlive)
    const machine = this.#owner?.life.isAlive === true ? this.#owner : living[0]
    if (machine !== undefined) this.#end(machine, isPowerLoss ? 'power' : 'kill', isPowerLoss)
  }

  /** The owner cannot reach the journal, and goes on as far as it can without. */
  cut(): void {
    if (this.#owner === null) return
    const { scheduler, note } = this.#ports
    this.#owner.cutUntilMs = scheduler.nowMs + this.#draw.integer(CUT_MS_MAX)
    note(`journal cut off from ${this.#owner.name}`)
  }

  /** Mostly the owner: what it was about to do, it does when it thaws. */
  freeze(): void {
    const living = this.#machines.filter(({ life }) => life.isAlive)
    const owner = this.#owner?.life.isAlive === true ? this.#owner : null
    const machine = this.#draw.chance(OWNER_FROZEN) ? owner : living.at(-1)
    const { scheduler, note } = this.#ports
    if (machine === null || machine === undefined || isFrozen(scheduler, machine.life)) return
    machine.life.frozenUntilMs = scheduler.nowMs + this.#draw.integer(FROZEN_MS_MAX)
    note(`frozen ${machine.name}`)
  }

  away(): void {
    this.engine.awayUntilMs = this.#ports.scheduler.nowMs + this.#draw.integer(AWAY_MS_MAX)
    this.#ports.note('journal away')
  }

  /** The owner says that it leaves, and ends while that is on its way or was heard. */
  leave(): void {
    const machine = this.#owner
    if (machine === null || !machine.life.isAlive || machine.beats === null) return
    this.#ports.note(`journal left by ${machine.name}`)
    const { life } = machine
    void machine.beats.leave().then(() => {
      if (life.isAlive) this.#end(machine, 'left', false)
    })
  }

  get areLevel(): boolean {
    const [first, ...others] = this.disks.map((disk) => journalPositionOf(disk.lookedAt)?.seq ?? 0)
    return others.every((seq) => seq === first)
  }

  /** At rest, of those that follow. */
  wrongAtRest(): string[] {
    const [first, ...others] = this.#machines
    return others.flatMap(({ name, disk }) =>
      haveSameRows(disk.lookedAt, first?.disk.lookedAt ?? disk.lookedAt)
        ? []
        : [`${name} has other rows than the first`],
    )
  }

  /** Its process ends by itself. */
  endOf(life: Life, why: string): void {
    const machine = this.#machines.find((one) => one.life === life)
    if (machine?.life.isAlive === true) this.#end(machine, why, false)
  }

  #end(machine: Machine, why: string, isPowerLoss: boolean): void {
    const { scheduler, note } = this.#ports
    const lost = machine.disk.kill(machine.life, isPowerLoss)
    note(`ended ${why} on ${machine.name}: ${lost} commits lost`)
    machine.beats = null
    scheduler.after(this.#draw.integer(START_MS_MAX), () => this.#start(machine))
  }

  #start(machine: Machine): void {
    const { scheduler, entropy, planted, note, wrong } = this.#ports
    const life = newLife()
    machine.life = life
    const timers = timersOf(scheduler, life, entropy, machine.aheadMs)
    const environment = machine.disk.environmentOf(life)
    const connected = this.engine.connect(life, () => machine.cutUntilMs)
    const journal = planted?.journal?.(connected) ?? connected
    const beats = createOwnerBeats(journal, PARTITION, timers)
    const log = {
      info: () => undefined,
      warn: (_: object, message: string) => note(`${machine.name}: ${message}`),
    }
    const options = {
      ...{ environment, journal, timers, log, node: machine.name },
      taken: ({ epoch, seq }: { readonly epoch: number; readonly seq: number }) =>
        beats.begin(epoch, () => seq),
      fatal: (error: unknown) => this.endOf(life, nameOf(error)),
    }
    const opened = this.#isStandby(machine)
      ? standBy(options, () => undefined)
      : openJournaledStore({ ...options, overtakes: null })
    opened.then(
      (writer) => {
        if (!life.isAlive) return
        const { epoch } = writer.owner
        beats.begin(epoch, () => writer.readings.stored)
        machine.beats = beats
        // One that was frozen while it took the journal may hear of it when another has it.
        if (epoch > this.#epoch) this.#owner = machine
        this.#epoch = Math.max(this.#epoch, epoch)
        note(`journal taken by ${machine.name}, epoch ${epoch}`)
        this.#ports.took({ life, timers, environment, disk: machine.disk, writer })
      },
      (error: unknown) => {
        if (!life.isAlive) return
        // A disk that refuses ends whoever follows, and a journal that goes away who has just taken it.
        if (!isOfDisk(error) && !(error instanceof JournalUnavailable))
          wrong(`${machine.name} cannot go on: ${String(error)}`)
        this.#end(machine, nameOf(error), false)
      },
    )
  }
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown'
}

function isOfDisk(error: unknown): boolean {
  return error instanceof Error && (error.message === 'ENOSPC' || error.message === 'EIO')
}
