import { median, quantileMs } from './figures.js'

/** Judges whether sends were slowed by something, from alternating phases without and with it. */

/** Latencies of the sends in two consecutive phases, one without and one with it. */
export interface Round {
  readonly withoutMs: readonly number[]
  readonly duringMs: readonly number[]
}

export interface PhaseJudgement {
  /** p99 with ÷ without, median of the rounds: the judged figure. */
  readonly ratio: number
  readonly byRound: readonly number[]
  /**
   * The same for all sends of all rounds together, which shows a single bad moment of the machine.
   */
  readonly pooled: number
  /**
   * p99 of an odd phase ÷ that of the even one before it, both without: the noise of the figure.
   */
  readonly control: number
  readonly controlByPair: readonly number[]
  readonly met: boolean
}

/** "Unchanged within 10 %". */
export const P99_RATIO_BAR = 1.1

/** @param rounds at least two */
export function judgePhases(rounds: readonly Round[]): PhaseJudgement {
  const byRound = rounds.map(({ withoutMs, duringMs }) => p99(duringMs) / p99(withoutMs))
  const without = rounds.map(({ withoutMs }) => p99(withoutMs))
  const controlByPair = without.flatMap((first, i) => {
    const second = without[i + 1]
    return i % 2 === 0 && second !== undefined ? [second / first] : []
  })
  const ratio = median(byRound)
  return {
    ratio,
    byRound,
    pooled:
      p99(rounds.flatMap(({ duringMs }) => duringMs)) /
      p99(rounds.flatMap(({ withoutMs }) => withoutMs)),
    control: median(controlByPair),
    controlByPair,
    met: ratio <= P99_RATIO_BAR,
  }
}

export function p99(latenciesMs: readonly number[]): number {
  return quantileMs(
    [...latenciesMs].sort((a, b) => a - b),
    0.99,
  )
}
