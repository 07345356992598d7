import type { Draw } from './random.js'
import type { Scheduler } from './scheduler.js'

/** Which way over a link: of what one asks, or of what it is answered. */
export type Direction = 'there' | 'back'

/** From one party to another, as whoever asks sees it. */
export interface Way {
  /** When what is sent now gets through at the earliest: not above now where nothing is in its way. */
  opensAtMs(direction: Direction): number
}

/** Those that are one of each. */
export const JOURNAL = 'journal'
export const USER_SIDE = 'user side'
export const NODES = 'nodes'
export const CALLERS = 'callers'
const ALONE = [JOURNAL, USER_SIDE, NODES, CALLERS]

const CUT_MS_MAX = 40_000
/** Of cuts, how many are between one machine and all others. */
const FROM_ALL = 0.25

/** Who reaches whom. Cuts overlap, and each heals by itself. */
export class Links {
  readonly #scheduler: Scheduler
  readonly #draw: Draw
  readonly #machines: readonly string[]
  readonly #note: (line: string) => void
  /** By `from > to`, until when nothing gets through. */
  readonly #cutUntilMs = new Map<string, number>()
  #isCalm = false

  constructor(
    scheduler: Scheduler,
    draw: Draw,
    machines: readonly string[],
    note: (line: string) => void,
  ) {
    this.#scheduler = scheduler
    this.#draw = draw
    this.#machines = machines
    this.#note = note
  }

  way(from: string, to: string): Way {
    return {
      opensAtMs: (direction) =>
        direction === 'there' ? this.#opensAtMs(from, to) : this.#opensAtMs(to, from),
    }
  }

  isOpen(one: string, other: string): boolean {
    const { nowMs } = this.#scheduler
    return this.#opensAtMs(one, other) <= nowMs && this.#opensAtMs(other, one) <= nowMs
  }

  /** Two that are drawn, or one and all. @param oneWay of cuts, how many lose what goes one way alone */
  cut(oneWay: number): void {
    if (this.#isCalm) return
    const draw = this.#draw
    const machine = draw.pick(this.#machines)
    const others = [...ALONE, ...this.#machines.filter((name) => name !== machine)]
    const cutOff = draw.chance(FROM_ALL) ? others : [draw.pick(others)]
    const untilMs = this.#scheduler.nowMs + draw.integer(CUT_MS_MAX)
    const ways = draw.chance(oneWay) ? draw.pick(['to', 'from'] as const) : 'both'
    for (const other of cutOff) {
      if (ways !== 'from') this.#close(machine, other, untilMs)
      if (ways !== 'to') this.#close(other, machine, untilMs)
    }
    const [first = ''] = cutOff
    const whom = cutOff.length > 1 ? 'all' : first.replace(/ \d+$/, '')
    this.#note(`parted ${whom.replace(' ', '-')} ${ways} ${machine}`)
  }

  calm(): void {
    this.#isCalm = true
    this.#cutUntilMs.clear()
  }

  #close(from: string, to: string, untilMs: number): void {
    const name = `${from} > ${to}`
    this.#cutUntilMs.set(name, Math.max(untilMs, this.#cutUntilMs.get(name) ?? 0))
  }

  #opensAtMs(from: string, to: string): number {
    return this.#cutUntilMs.get(`${from} > ${to}`) ?? 0
  }
}
