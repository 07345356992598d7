import { decodeBatchEvidence } from '../../src/custody/evidence/evidence-records.js'
import { EVIDENCE_HASH_BYTES, EVIDENCE_KIND } from '../../src/custody/evidence/stored-evidence.js'
import { hasBit } from '../../src/quorum-protocol/batch.js'
import { intentId } from '../../src/quorum-protocol/intent.js'
import { codeOf, Refusal } from '../../src/quorum-protocol/refusal.js'
import type { Connection } from '../../src/quorum-protocol/server.js'
import { AnnouncedLeaders } from './announced-leaders.js'
import { ApprovedPlaces } from './approved-places.js'
import type { DiskFaults } from './disk.js'
import { LmdbFile } from './lmdb-files.js'
import type { Draw } from './random.js'
import { type Life, newLife } from './scheduler.js'
import { type UserSideFiles, type UserSidePorts, UserSideStart } from './user-side-start.js'

export interface UserSideWorld extends Omit<UserSidePorts, 'heard'> {
  readonly note: (line: string) => void
  /** Its process ended, and all connections with it. */
  readonly ended: () => void
}

const CALM: DiskFaults = { latencyMsMax: 8, refusals: 0 }
const DOWN_MS_MAX = 3_000
/** `hash 32 | time 8 | kind 1`, then the body. */
const KIND_AT = EVIDENCE_HASH_BYTES + 8

/** The identity provider's vault, whose process ends and begins anew on the same disk. */
export class UserSide {
  /** What its evidence has. */
  readonly #approved = new ApprovedPlaces()
  /** Of intents that the evidence has on disk as approved. */
  readonly #proved = new Set<string>()
  readonly #world: UserSidePorts & UserSideWorld
  readonly #heard: AnnouncedLeaders
  readonly #files: UserSideFiles
  #life: Life = newLife()
  #start: UserSideStart | null = null

  constructor(world: UserSideWorld) {
    this.#heard = new AnnouncedLeaders(world.wrong)
    this.#world = { ...world, heard: this.#heard }
    const { scheduler, draw } = world
    this.#files = {
      evidence: new LmdbFile(scheduler, draw),
      ledger: new LmdbFile(scheduler, draw),
    }
    this.#files.evidence.kept = (_, bytes) => this.#noteProved(bytes)
    this.diskFaults = CALM
    this.#begin()
  }

  /** Whether it takes connections. */
  get isServing(): boolean {
    return this.#start !== null
  }

  /** Which start of it serves: what was sent to another one is lost. */
  get serving(): object | null {
    return this.#start
  }

  set diskFaults(faults: DiskFaults) {
    for (const { disk } of Object.values(this.#files) as LmdbFile[]) disk.faults = faults
  }

  set diskStalls(stalls: number) {
    for (const { disk } of Object.values(this.#files) as LmdbFile[]) disk.stalls = stalls
  }

  set fullUntilMs(untilMs: number) {
    for (const { disk } of Object.values(this.#files) as LmdbFile[]) disk.fullUntilMs = untilMs
  }

  calm(): void {
    this.diskFaults = CALM
    this.diskStalls = 0
    this.fullUntilMs = 0
  }

  /** Whether a start after a crash would know that it approved an intent. */
  hasProved(id: Uint8Array): boolean {
    return this.#proved.has(nameOf(id))
  }

  /** What must not be at rest. */
  wrongAtRest(): string[] {
    return [...this.#approved.twice()].map(
      (place) => `${place} was approved twice, for calls that do not know of each other`,
    )
  }

  /** @param isPowerLoss what was on its way to the disk does not arrive */
  kill(isPowerLoss: boolean, why = 'killed'): void {
    const { scheduler, draw, note, ended } = this.#world
    if (!this.#life.isAlive) return
    const lost = [this.#files.evidence, this.#files.ledger].map(({ disk }) =>
      disk.kill(this.#life, isPowerLoss),
    )
    note(`user-side ${why}: ${lost.join(' and ')} commits lost`)
    this.#start = null
    ended()
    scheduler.after(draw.integer(DOWN_MS_MAX), () => this.#begin())
  }

  async serve(method: string, parameters: readonly unknown[], connection: Connection) {
    const start = this.#start
    if (start === null) throw new Error('the user side does not serve')
    const life = this.#life
    try {
      return await start.serve(method, parameters, connection)
    } catch (error) {
      if (error instanceof Refusal || (life.isAlive && !isOfDisk(error))) throw error
      throw new Refusal('INTERNAL', 'internal error')
    }
  }

  /**
   * One of those that announced themselves before the last did, and did not hear of it.
   * @returns what it is told; null where there is none
   */
  askDeposed(draw: Draw, method: string): Promise<string> | null {
    const deposed = this.#heard.deposed()
    if (deposed.length === 0 || this.#start === null) return null
    return this.#start.serve(method, [() => null], draw.pick(deposed)).then(
      () => 'nothing',
      (error: unknown) => `${codeOf(error)} of ${method}`,
    )
  }

  #begin(): void {
    const life = newLife()
    this.#life = life
    const { wrong, note } = this.#world
    const refused = () => {
      if (life.isAlive) this.kill(false, 'refused by its disk')
    }
    UserSideStart.begin(this.#world, this.#files, life, refused).then(
      (start) => {
        if (!life.isAlive) return
        this.#start = start
        note('user-side serves')
        for (const what of start.remembers((ledger) => [...this.#approved.forgottenBy(ledger)])) {
          wrong(`the user side has forgotten what it approved at ${what}`)
        }
      },
      (error: unknown) => {
        if (isOfDisk(error)) refused()
        else wrong(`the user side does not start: ${(error as Error).stack}`)
      },
    )
  }

  #noteProved(bytes: Uint8Array): void {
    if (bytes[KIND_AT] !== EVIDENCE_KIND.batch) return
    const { intents, bitmap } = decodeBatchEvidence(bytes.subarray(KIND_AT + 1))
    for (const [index, encoded] of intents.entries()) {
      if (!hasBit(bitmap, index)) continue
      this.#proved.add(nameOf(intentId(encoded)))
      const what = this.#approved.note(encoded)
      if (what !== null) this.#world.wrong(what)
    }
  }
}

/** What a disk says, or the evidence of it. */
function isOfDisk(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return /^(ENOSPC|EIO)$/.test(error.message) || error.name === 'EvidenceBroken'
}

function nameOf(id: Uint8Array): string {
  return Buffer.from(id).toString('hex')
}
