import { describe, expect, test } from 'vitest'
import { judgePhases } from '../../bench/phase-judgement.js'

/** A phase whose p99 is `p99Ms`. */
const phase = (p99Ms: number) => [...Array<number>(110).fill(1), ...Array<number>(90).fill(p99Ms)]
const round = (withoutMs: number, duringMs: number) => ({
  withoutMs: phase(withoutMs),
  duringMs: phase(duringMs),
})

describe('the judgement of sends next to something else', () => {
  test('is the median of rounds, which one bad moment of the machine does not move', () => {
    const judged = judgePhases([round(10, 10), round(10, 900), round(10, 10.5), round(10, 10)])
    expect(judged.byRound).toEqual([1, 90, 1.05, 1])
    expect(judged.ratio).toBeCloseTo(1.025)
    expect(judged.pooled).toBe(90)
    expect(judged.met).toBe(true)
  })

  test('is not met when most rounds are slower with it', () => {
    expect(judgePhases([round(10, 12), round(10, 12), round(10, 9)]).met).toBe(false)
  })

  test('shows as its control how far phases without it differ from one another', () => {
    const judged = judgePhases([round(10, 10), round(20, 20), round(10, 10), round(15, 15)])
    expect(judged.controlByPair).toEqual([2, 1.5])
    expect(judged.control).toBe(1.75)
  })
})
