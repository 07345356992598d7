import { expect, test } from 'vitest'
import { runServiceMix } from './service-mix.js'

/** `FAULTS_TRANSACTIONS`, `FAULTS_WALLETS` and `FAULTS_SEED` make a longer or another run of it. */
const CALLS = Number(process.env.FAULTS_TRANSACTIONS ?? 40)
const WALLETS = Number(process.env.FAULTS_WALLETS ?? 3)
const SEED = Number(process.env.FAULTS_SEED ?? Date.now() % 1_000_000)
const SETTLE_MS = 90_000 + CALLS * 100
const STACK_MS = 300_000
/** From so many on, chance evens out. */
const MANY = 400

test(
  'in a random mix of faults the whole service executes what it acknowledged once, and nothing else',
  async () => {
    console.info(`seed ${SEED}`)
    const report = await runServiceMix({
      seed: SEED,
      chainIds: [8453, 10],
      wallets: WALLETS,
      calls: CALLS,
      settleMs: SETTLE_MS,
    })
    console.info(report)
    expect(report.wrong, `seed ${SEED}`).toEqual([])
    // How many depends on the seed: in a short run outages may cover most of it.
    expect(report.acknowledged).toBeGreaterThan(CALLS < MANY ? 0 : CALLS / 4)
  },
  3 * SETTLE_MS + STACK_MS,
)
