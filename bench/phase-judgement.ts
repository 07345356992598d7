import { median, quantileMs } from './figures.js'

/** Whether sends felt what else there was, from phases without and with it in turns. */

/** Latencies of the sends of a phase without it and of one with it, which ran in a row. */
export interface Round {
  readonly withoutMs: readonly number[]
  readonly duringMs: readonly number[]
}

export interface PhaseJudgement {
  /** p99 with ÷ without, median of the rounds: what is judged. */
  readonly ratio: number
  readonly byRound: readonly number[]
  /** The same of all sends of all rounds together, where one bad moment of the machine shows. */
  readonly pooled: number
  /** p99 of an odd ÷ of the even phase before it, both without: how far the figure is noise. */
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
