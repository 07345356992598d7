import { type Journal, JournalUnavailable } from '../../src/journal/journal.js'
import { createMemoryEngine } from '../../src/journal/memory-journal.js'
import type { Cluster } from './features.js'
import type { Draw } from './random.js'
import { arrive, type Life, type Scheduler } from './scheduler.js'

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
  readonly #there = createMemoryEngine().connect()

  constructor(scheduler: Scheduler, draw: Draw, faults: Faults) {
    this.#scheduler = scheduler
    this.#draw = draw
    this.faults = faults
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

  /** As one start of a process reaches it. @param cutUntilMs until when it does not */
  connect(life: Life, cutUntilMs: () => number): Journal {
    const there = this.#there
    const ask = <T>(work: () => Promise<T>) => this.#ask(life, cutUntilMs, work)
    return {
      take: (...request) => ask(() => there.take(...request)),
      look: (partition) => ask(() => there.look(partition)),
      beat: (...request) => ask(() => there.beat(...request)),
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

  #ask<T>(life: Life, cutUntilMs: () => number, work: () => Promise<T>): Promise<T> {
    const scheduler = this.#scheduler
    const { engineLatencyMsMax, engineUnsent, engineUnanswered, engineDoubled } = this.faults
    const delayMs = () => 1 + this.#draw.integer(engineLatencyMsMax)
    const isAway = () => scheduler.nowMs < Math.max(this.awayUntilMs, cutUntilMs())
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
        if (isAway() || isUnsent === true) {
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
            if (isAway() || isUnanswered === true) lost()
            else whileAlive(backMs, () => resolve(answer))
          },
          (error: unknown) => whileAlive(backMs, () => reject(error)),
        )
      })
    })
  }
}
