/** Something that goes on by steps drawn from a seed, and throws when an oracle is hurt. */
export interface Driven {
  step(): Promise<void>
  readonly trail: readonly string[]
}

/** Seeds of a run; more by CORE_SEEDS, as `npm run test:long -- core` has it. */
export const SEEDS = Number(process.env.CORE_SEEDS ?? 40)
const STEPS = 200

/** @throws Error with the seed and the last commands before the first failure */
export async function driveMany(
  make: (seed: number) => Promise<Driven>,
  seeds = SEEDS,
): Promise<void> {
  for (let seed = 1; seed <= seeds; seed++) {
    const driven = await make(seed)
    try {
      for (let step = 0; step < STEPS; step++) await driven.step()
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      const why = `seed ${seed}: ${message}; after ${driven.trail.join(', ')}`
      throw new Error(why, { cause: error })
    }
  }
}
