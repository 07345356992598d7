import type { Timers } from '../../src/clock/timers.js'
import { JournalUnavailable } from '../../src/journal/journal.js'
import {
  createLeaderHeartbeats,
  type LeaderHeartbeats,
} from '../../src/journal/leader-heartbeats.js'
import type { Environment } from '../../src/store/environment.js'
import { journalPositionOf } from '../../src/store/journal-position.js'
import type { JournalWriter } from '../../src/store/journal-writer.js'
import { openJournaledStore, PARTITION } from '../../src/store/journaled-store.js'
import { standBy } from '../../src/store/stand-by.js'
import { type Clock, type SkewedClock, timersBy } from './clocks.js'
import type { Disk } from './disk.js'
import { Engine } from './engine.js'
import type { Cluster } from './features.js'
import { type Direction, JOURNAL, Links } from './links.js'
import { type Parted, skewedClock } from './parted.js'
import type { Planted } from './planted.js'
import { type Draw, drawOf } from './random.js'
import { isFrozen, type Life, newLife, type Scheduler, timersOf } from './scheduler.js'
import { Silences } from './silences.js'
import { haveSameRows } from './view-oracles.js'

/** A process that owns the journal, and with it all users. */
export interface Leader {
  readonly machine: string
  readonly life: Life
  /** By the machine's clock. */
  readonly timers: Timers
  /** Of a machine whose clock may be wrong; null: nobody compares it with the chains. */
  readonly clock: Clock | null
  readonly environment: Environment
  readonly disk: Disk
  readonly writer: JournalWriter
}

export interface MachinesPorts {
  readonly seed: number
  readonly cluster: Cluster
  readonly parted: Parted | null
  readonly planted: Planted | null
  readonly scheduler: Scheduler
  readonly entropy: Draw
  readonly diskOf: (draw: Draw) => Disk
  /** One has taken the journal: it serves from now on, and whoever did before may not know yet. */
  readonly took: (leader: Leader) => void
  /** A process has ended, and all its connections with it. */
  readonly ended: (life: Life) => void
  readonly note: (line: string) => void
  readonly wrong: (what: string) => void
}

/** As a standby saw it last. */
interface SeenLeader {
  readonly epoch: number
  /** Its machine's name. */
  readonly leader: string | null
}

export interface Machine {
  readonly name: string
  readonly disk: Disk
  life: Life
  /** It follows an owner, and listens. */
  isWaiting: boolean
  seen: SeenLeader | null
  /** Null: its clock is off by `aheadMs` alone. */
  readonly clock: SkewedClock | null
  beats: LeaderHeartbeats | null
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
const LEADER_FROZEN = 0.8
/** Of clocks that are set, how many are set right again, and after how long at most. */
const FOUND_OUT = 0.8
const FOUND_OUT_MS_MAX = 40_000

/**
 * Machines with a disk of their own over one journal. One is its owner; the others follow it, and one
 * of them takes over where it is silent. Each that ends starts again, and waits as a standby.
 */
export class Machines {
  readonly disks: readonly Disk[]
  readonly engine: Engine
  readonly all: readonly Machine[]
  readonly links: Links
  readonly #ports: MachinesPorts
  readonly #draw: Draw
  readonly #partedDraw: Draw
  /** Told where one that waits looks at another owner than before, or is one itself. */
  leaderChanged: (machine: Machine) => void = () => undefined
  #leader: Machine | null = null
  #epoch = 0
  #isCalm = false

  constructor(ports: MachinesPorts) {
    this.#ports = ports
    const { seed, cluster, parted, scheduler, note, wrong } = ports
    this.#draw = drawOf(seed, 'machines')
    this.#partedDraw = drawOf(seed, 'parted machines')
    const silences = new Silences(scheduler, parted?.paceApart ?? 0)
    this.engine = new Engine(scheduler, drawOf(seed, 'engine'), cluster, silences, wrong)
    this.all = Array.from({ length: cluster.machines }, (_, at) => {
      const aheadMs = this.#draw.between(-cluster.clocksApartMs, cluster.clocksApartMs)
      return {
        name: `machine ${at}`,
        disk: ports.diskOf(drawOf(seed, `disk ${at}`)),
        ...{ life: DEAD, isWaiting: false, seen: null, beats: null, cutUntilMs: 0, aheadMs },
        clock: parted === null ? null : skewedClock(parted, aheadMs, scheduler, this.#partedDraw),
      }
    })
    this.disks = this.all.map(({ disk }) => disk)
    const names = this.all.map(({ name }) => name)
    this.links = new Links(scheduler, drawOf(seed, 'links'), names, note)
  }

  start(): void {
    for (const machine of this.all) this.#start(machine)
  }

  named(name: string): Machine | null {
    return this.all.find((machine) => machine.name === name) ?? null
  }

  /** Somebody sets the clock of one, which mostly is found out. */
  setClock(): void {
    const draw = this.#partedDraw
    const { name, clock } = draw.pick(this.all)
    const { note, scheduler } = this.#ports
    if (clock === null || this.#isCalm) return
    note(`clock set on ${name} by ${clock.step(draw)} ms`)
    if (!draw.chance(FOUND_OUT)) return
    scheduler.after(draw.integer(FOUND_OUT_MS_MAX), () => {
      clock.setRight()
      note(`clock right on ${name}`)
    })
  }

  /**
   * Who comes back waits for whoever took over. But no standby takes a journal without entries, so
   * the first to have one is started as its owner, by whoever sets them up.
   */
  #isStandby(machine: Machine): boolean {
    return machine !== this.all[0] || this.engine.hasEntries
  }

  calm(): void {
    this.#isCalm = true
    this.engine.calm()
    this.links.calm()
    for (const machine of this.all) {
      machine.cutUntilMs = 0
      machine.clock?.calm()
    }
  }

  /** The owner, or where there is none who may become it. */
  kill(isPowerLoss: boolean): void {
    const living = this.all.filter(({ life }) => life.isAlive)
    const machine = this.#leader?.life.isAlive === true ? this.#leader : living[0]
    if (machine !== undefined) this.#end(machine, isPowerLoss ? 'power' : 'kill', isPowerLoss)
  }

  /** The owner cannot reach the journal, and goes on as far as it can without. */
  cut(): void {
    if (this.#leader === null) return
    const { scheduler, note } = this.#ports
    this.#leader.cutUntilMs = scheduler.nowMs + this.#draw.integer(CUT_MS_MAX)
    note(`journal cut off from ${this.#leader.name}`)
  }

  /** Mostly the owner: what it was about to do, it does when it thaws. */
  freeze(): void {
    const living = this.all.filter(({ life }) => life.isAlive)
    const leader = this.#leader?.life.isAlive === true ? this.#leader : null
    const machine = this.#draw.chance(LEADER_FROZEN) ? leader : living.at(-1)
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
    const machine = this.#leader
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
    const [first, ...others] = this.all
    return others.flatMap(({ name, disk }) =>
      haveSameRows(disk.lookedAt, first?.disk.lookedAt ?? disk.lookedAt)
        ? []
        : [`${name} has other rows than the first`],
    )
  }

  /** Its process ends by itself. */
  endOf(life: Life, why: string): void {
    const machine = this.all.find((one) => one.life === life)
    if (machine?.life.isAlive === true) this.#end(machine, why, false)
  }

  #end(machine: Machine, why: string, isPowerLoss: boolean): void {
    const { scheduler, note } = this.#ports
    const lost = machine.disk.kill(machine.life, isPowerLoss)
    note(`ended ${why} on ${machine.name}: ${lost} commits lost`)
    machine.beats = null
    machine.isWaiting = false
    this.#ports.ended(machine.life)
    scheduler.after(this.#draw.integer(START_MS_MAX), () => this.#start(machine))
  }

  #start(machine: Machine): void {
    const { scheduler, entropy, planted, note, wrong } = this.#ports
    const life = newLife()
    machine.life = life
    const { clock } = machine
    const timers =
      clock === null
        ? timersOf(scheduler, life, entropy, machine.aheadMs)
        : timersBy(clock, scheduler, life, entropy)
    const environment = machine.disk.environmentOf(life)
    const way = this.links.way(machine.name, JOURNAL)
    const isCut = (direction: Direction) =>
      scheduler.nowMs < Math.max(machine.cutUntilMs, way.opensAtMs(direction))
    const connected = this.engine.connect(life, isCut)
    const journal = planted?.journal?.(connected) ?? connected
    const beats = createLeaderHeartbeats(journal, PARTITION, timers)
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
    const isStandby = this.#isStandby(machine)
    machine.isWaiting = isStandby
    machine.seen = null
    const followed = ({ epoch, leader }: SeenLeader) => {
      if (machine.seen?.epoch !== epoch) this.leaderChanged(machine)
      machine.seen = { epoch, leader }
    }
    const waiting = { ...options, timers: planted?.parted?.standbyTimers?.(timers) ?? timers }
    const opened = isStandby
      ? standBy(waiting, (progress) => followed(progress))
      : openJournaledStore({ ...options, overtakes: null })
    opened.then(
      (writer) => {
        if (!life.isAlive) return
        const { epoch } = writer.leadership
        machine.isWaiting = false
        this.leaderChanged(machine)
        beats.begin(epoch, () => writer.readings.stored)
        machine.beats = beats
        // One that was frozen while it took the journal may hear of it when another has it.
        if (epoch > this.#epoch) this.#leader = machine
        this.#epoch = Math.max(this.#epoch, epoch)
        note(`journal taken by ${machine.name}, epoch ${epoch}`)
        const { name, disk } = machine
        this.#ports.took({ machine: name, life, timers, clock, environment, disk, writer })
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
