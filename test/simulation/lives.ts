import { Disk } from './disk.js'
import type { Features } from './features.js'
import { type Leader, Machines } from './machines.js'
import type { Planted } from './planted.js'
import { type Draw, drawOf } from './random.js'
import type { Life, Scheduler } from './scheduler.js'
import type { Service } from './service.js'

export interface LivesPorts {
  readonly seed: number
  readonly features: Features
  readonly planted: Planted | null
  readonly scheduler: Scheduler
  readonly draw: Draw
  readonly entropy: Draw
  /** @param leader null: of a service without a journal */
  readonly serve: (disk: Disk, leader: Leader | null) => Service
  /** One has taken the journal, and is about to serve. */
  readonly took: (leader: Leader) => void
  /** Another start serves from now on. */
  readonly restarted: (service: Service) => void
  /** A process of a cluster has ended. */
  readonly processEnded: (life: Life) => void
  readonly note: (line: string) => void
  readonly wrong: (what: string) => void
}

const START_MS_MAX = 3_000

/**
 * The starts of the service, of which one serves: one after another on one machine, or in a cluster
 * each that takes the journal over.
 */
export class Lives {
  /** The one that serves. */
  service: Service
  /** The one before it, which may not know yet that it was taken over from. */
  #before: Service | null = null
  /** Its own. */
  disk: Disk
  readonly machines: Machines | null
  readonly #ports: LivesPorts
  readonly #serving = new Map<Life, Service>()
  #decidedBefore = 0
  #epoch = 0
  #starting = false

  constructor(ports: LivesPorts) {
    this.#ports = ports
    const { seed, features, planted, scheduler, entropy, serve, took, note, wrong } = ports
    const { cluster, parted } = features
    this.disk = this.#diskOf(drawOf(seed, 'disk'))
    this.service = serve(this.disk, null)
    if (cluster === null) {
      this.machines = null
      return
    }
    // Nobody serves there before one has taken the journal.
    this.service.life.isAlive = false
    this.machines = new Machines({
      ...{ seed, cluster, parted, planted, scheduler, entropy, note, wrong },
      ended: (life) => {
        this.#serving.delete(life)
        ports.processEnded(life)
      },
      diskOf: (draw) => this.#diskOf(draw),
      took: (leader) => {
        took(leader)
        const service = serve(leader.disk, leader)
        this.#serving.set(leader.life, service)
        const { epoch } = leader.writer.leadership
        // One that was frozen while it took the journal hears of it when another has it.
        if (epoch < this.#epoch) {
          this.#before = service
          return
        }
        this.#epoch = epoch
        this.disk = leader.disk
        this.#serves(service)
      },
    })
  }

  /** Of a cluster's process that owns the journal, or thinks so. */
  servedBy(life: Life): Service | null {
    return this.#serving.get(life) ?? null
  }

  get disks(): readonly Disk[] {
    return this.machines?.disks ?? [this.disk]
  }

  get zombie(): Service | null {
    return this.#before?.life.isAlive === true ? this.#before : null
  }

  /** All that follow have what there is to follow. */
  get areLevel(): boolean {
    return this.machines?.areLevel ?? true
  }

  /** Commands, over all of them. */
  get decided(): number {
    return this.#decidedBefore + this.service.decided
  }

  calm(): void {
    this.machines?.calm()
    for (const disk of this.disks) disk.calm()
  }

  kill(): void {
    if (this.machines !== null) this.machines.kill(this.#losesPower())
    else if (!this.#starting) this.#stop('kill')
  }

  /** A process ends by itself. */
  ended(life: Life, why: string): void {
    if (this.machines !== null) this.machines.endOf(life, why)
    else if (!this.#starting) this.#stop(why)
  }

  #losesPower(): boolean {
    return this.#ports.features.hasPowerLosses && this.#ports.draw.chance(0.5)
  }

  #stop(why: string): void {
    const { scheduler, draw, note, serve } = this.#ports
    const isPowerLoss = this.#losesPower()
    const lost = this.disk.kill(this.service.life, isPowerLoss)
    note(`${isPowerLoss ? 'power' : why}: ${lost} commits lost`)
    this.#starting = true
    scheduler.after(draw.integer(START_MS_MAX), () => {
      this.#starting = false
      note('start')
      this.#serves(serve(this.disk, null))
    })
  }

  #serves(service: Service): void {
    this.#decidedBefore += this.service.decided
    this.#before = this.service
    this.service = service
    this.#ports.restarted(service)
  }

  #diskOf(draw: Draw): Disk {
    const { scheduler, features } = this.#ports
    const disk = new Disk(scheduler, draw)
    disk.faults = { latencyMsMax: features.diskLatencyMsMax, refusals: features.diskRefusals }
    disk.stalls = features.diskStalls
    return disk
  }
}
