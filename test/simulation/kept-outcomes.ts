import type { Outcome } from './simulation.js'

/** A world without a planted fault is run once, and looked at by several tests. */
export function keptOutcomes(
  worldOf: (seed: number) => Promise<Outcome>,
): (seed: number) => Promise<Outcome> {
  const outcomes = new Map<number, Promise<Outcome>>()
  return (seed) => {
    const outcome = outcomes.get(seed) ?? worldOf(seed)
    outcomes.set(seed, outcome)
    return outcome
  }
}
