import { LEADER_SILENT_MS } from '../../src/journal/watch-leader.js'
import type { Life, Scheduler } from './scheduler.js'

/**
 * No owner is ended that said all along that it lives, whatever a clock says: the journal itself, which
 * hears owners, is asked how long each was silent.
 */
export class Silences {
  readonly #scheduler: Scheduler
  /** Shorter than this by the world's time no machine takes silence for an end. */
  readonly #leastMs: number
  #leader: { readonly life: Life; readonly epoch: number } | null = null
  #heardMs = 0
  #longestMs = 0
  #hasLeft = false

  /** @param paceApart part by which clocks that nobody sets are faster, at most */
  constructor(scheduler: Scheduler, paceApart: number) {
    this.#scheduler = scheduler
    this.#leastMs = LEADER_SILENT_MS * (1 - paceApart)
  }

  heard(epoch: number, state: 'lives' | 'leaves'): void {
    if (this.#leader?.epoch !== epoch) return
    this.#noteSilence()
    this.#hasLeft ||= state === 'leaves'
  }

  /** @returns what is wrong with it, or null */
  taken(life: Life, epoch: number): string | null {
    const before = this.#leader
    if (before !== null && epoch <= before.epoch) return null
    this.#noteSilence()
    const isWrong =
      before?.life.isAlive === true && !this.#hasLeft && this.#longestMs < this.#leastMs
    const { epoch: ended = 0 } = before ?? {}
    const wrong = `owner ${ended} was ended, and was silent for ${this.#longestMs} ms at most`
    this.#leader = { life, epoch }
    this.#longestMs = 0
    this.#hasLeft = false
    return isWrong ? wrong : null
  }

  #noteSilence(): void {
    const { nowMs } = this.#scheduler
    this.#longestMs = Math.max(this.#longestMs, nowMs - this.#heardMs)
    this.#heardMs = nowMs
  }
}
