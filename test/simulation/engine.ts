import { type Journal, JournalUnavailable } from '../../src/journal/journal.js'
import { createMemoryEngine } from '../../src/journal/memory-journal.js'
import type { Cluster } from './features.js'
import type { Direction } from './links.js'
import type { Draw } from './random.js'
import { arrive, type Life, type Scheduler } from './scheduler.js'
import type { Silences } from './silences.js'

/** What is no answer comes after this long. */
const GIVEN_UP_MS = 400
/** A request that came twice comes a second time within this. */
const LATE_MS_MAX = 5_000

type Faults = Pick<
  Cluster,
  'engineLatencyMsMax' | 'engineUnsent' | 'engineUnanswered' | 'engineDoubled'
>

/** The journal that machines share, and the network to it, which loses, delays and doubles. */
export class Engine {
  faults: Faults
  /** Until then nobody reaches it. */
  awayUntilMs = 0
  readonly #scheduler: Scheduler
  readonly #draw: Draw
  readonly #silences: Silences
  readonly #wrong: (what: string) => void
  readonly #there = createMemoryEngine().connect()

  constructor(
    scheduler: Scheduler,
    draw: Draw,
    faults: Faults,
    silences: Silences,
    wrong: (what: string) => void,
  ) {
    this.#scheduler = scheduler
    this.#draw = draw
    this.faults = faults
    this.#silences = silences
    this.#wrong = wrong
  }

  /** Whether something was ever stored there. */
  hasEntries = false

  calm(): void {
    this.awayUntilMs = 0
    this.faults = {
      ...this.faults,
      ...{ engineUnsent: 0, engineUnanswered: 0, engineDoubled: 0 },
    }
  }

  /** As one start of a process reaches it. @param isCut whether it does not now */
  connect(life: Life, isCut: (direction: Direction) => boolean): Journal {
    const there = this.#there
    const ask = <T>(work: () => Promise<T>) => this.#ask(life, isCut, work)
    return {
      acquire: (...request) =>
        ask(async () => {
          const taken = await there.acquire(...request)
          const wrong = this.#silences.taken(life, taken.epoch)
          if (wrong !== null) this.#wrong(wrong)
          return taken
        }),
      readHead: (partition) => ask(() => there.readHead(partition)),
      heartbeat: (partition, epoch, stored, state) =>
        ask(() => {
          this.#silences.heard(epoch, state)
          return there.heartbeat(partition, epoch, stored, state)
        }),
      append: (at, body) => {
        // What a caller does with its bytes meanwhile is its own affair.
        const copy = Uint8Array.from(body)
        return ask(() => {
          this.hasEntries = true
          return there.append(at, copy)
        })
      },
      read: (...request) => ask(() => there.read(...request)),
      trim: (...request) => ask(() => there.trim(...request)),
      close: async () => undefined,
    }
  }

  #ask<T>(
    life: Life,
    isCut: (direction: Direction) => boolean,
    work: () => Promise<T>,
  ): Promise<T> {
    const scheduler = this.#scheduler
    const { engineLatencyMsMax, engineUnsent, engineUnanswered, engineDoubled } = this.faults
    const delayMs = () => 1 + this.#draw.integer(engineLatencyMsMax)
    const isAway = (direction: Direction) => scheduler.nowMs < this.awayUntilMs || isCut(direction)
    const [isUnsent, isUnanswered, isDoubled] = [engineUnsent, engineUnanswered, engineDoubled].map(
      (share) => share > 0 && this.#draw.chance(share),
    )
    return new Promise<T>((resolve, reject) => {
      const whileAlive = (ms: number, run: () => void) =>
        scheduler.after(ms, () => arrive(scheduler, life, run))
      const lost = () =>
        whileAlive(GIVEN_UP_MS, () => reject(new JournalUnavailable('nobody answers')))
      // What was sent arrives, be its process dead by then.
      scheduler.after(delayMs(), () => {
        if (isAway('there') || isUnsent === true) {
          lost()
          return
        }
        if (isDoubled === true) {
          const again = () => void work().catch(() => undefined)
          scheduler.after(this.#draw.integer(LATE_MS_MAX), again)
        }
        const backMs = delayMs()
        work().then(
          (answer) => {
            if (isAway('back') || isUnanswered === true) lost()
            else whileAlive(backMs, () => resolve(answer))
          },
          (error: unknown) => whileAlive(backMs, () => reject(error)),
        )
      })
    })
  }
}
