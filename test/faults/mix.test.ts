import { expect, test } from 'vitest'
import { runMix } from './mix.js'

/** `FAULTS_TRANSACTIONS`, `FAULTS_WALLETS` and `FAULTS_SEED` make a longer or another run of it. */
const TRANSACTIONS = Number(process.env.FAULTS_TRANSACTIONS ?? 120)
const WALLETS = Number(process.env.FAULTS_WALLETS ?? 6)
const SEED = Number(process.env.FAULTS_SEED ?? Date.now() % 1_000_000)
const SETTLE_MS = 90_000 + TRANSACTIONS * 100

test(
  'in a random mix of faults no transaction is lost or doubled, and no lane jams',
  async () => {
    console.info(`seed ${SEED}`)
    const report = await runMix({
      seed: SEED,
      chainIds: [1, 137, 8453],
      wallets: WALLETS,
      transactions: TRANSACTIONS,
      settleMs: SETTLE_MS,
    })
    console.info(report)
    expect(report.wrong, `seed ${SEED}`).toEqual([])
    // Not by what was answered: a restart cuts the answers that are under way.
    expect(report.confirmed).toBeGreaterThan(TRANSACTIONS / 8)
  },
  3 * SETTLE_MS,
)
