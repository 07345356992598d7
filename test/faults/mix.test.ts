import { expect, test } from 'vitest'
import { runMix } from './mix.js'
import { runsOf } from './runs.js'

const { transactions, wallets, seeds, settleMs, timeoutMs, progress } = runsOf({
  transactions: 120,
  wallets: 6,
})

test.for(seeds)(
  'in a random mix of faults no transaction is lost or doubled, and no lane jams (seed %i)',
  { timeout: timeoutMs },
  async (seed) => {
    console.info(`sends, seed ${seed}`)
    const chainIds = [1, 137, 8453] as const
    const report = await runMix({ seed, chainIds, wallets, transactions, settleMs, progress })
    console.info(report)
    expect(report.wrong, `seed ${seed}`).toEqual([])
    // Not by what was answered: a restart cuts the answers that are under way.
    expect(report.confirmed).toBeGreaterThan(transactions / 8)
  },
)
