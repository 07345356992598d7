import { expect, test } from 'vitest'
import { LONG, runsOf } from './runs.js'
import { runServiceMix } from './service-mix.js'

const { transactions, wallets, seeds, settleMs, timeoutMs, logs, progress } = runsOf({
  transactions: 40,
  wallets: 3,
})

test.for(seeds)(
  'in a random mix of faults the whole service executes what it acknowledged once, counts what it spent, and does nothing else (seed %i)',
  { timeout: timeoutMs },
  async (seed) => {
    console.info(`whole service, seed ${seed}`)
    const report = await runServiceMix({
      ...{ seed, wallets, settleMs, logs, progress },
      rest: transactions < LONG ? 'all-final' : 'nothing-held',
      chainIds: [8453, 10],
      calls: transactions,
    })
    console.info(report)
    expect(report.wrong, `seed ${seed}`).toEqual([])
    // How many depends on the seed: in a short run outages may cover all of it but its end.
    expect(report.acknowledged).toBeGreaterThan(transactions < LONG ? 0 : transactions / 4)
    if (transactions >= LONG) {
      expect(Object.keys(report.confirmed).sort()).toEqual(
        ['defi_deposit', 'defi_withdraw', 'send', 'swap'].sort(),
      )
    }
  },
)
