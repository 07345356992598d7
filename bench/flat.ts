import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { residentBytes } from './cpu.js'
import { count, median, ms, table } from './figures.js'
import { openFiller, type StoreFiller } from './fill-store.js'
import { runContext, writeResults } from './results-file.js'
import { startSinkStack } from './sink-stack.js'
import { measureWritePath, type WritePathFigures } from './write-path.js'

/**
 * `npm run bench:flat`: whether a send costs the same however many wallets and past transactions
 * the store holds, and how long the service takes to come back with all of them. What is filled in
 * is the service's store; the two domains hold shares of the wallets that send.
 */
const { values } = parseArgs({
  options: {
    wallets: { type: 'string', default: '1000,1000000' },
    transactions: { type: 'string', default: '0,1000000' },
    open: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '6' },
    turns: { type: 'string', default: '3' },
  },
})
const [walletsFew = 0, walletsMany = 0] = values.wallets.split(',').map(Number)
const [pastFew = 0, pastMany = 0] = values.transactions.split(',').map(Number)
const open = Number(values.open)
const runMs = Number(values.seconds) * 1_000
const SENDING = 128
const CALLERS = 64
const MIB = 1024 * 1024

interface Stage {
  readonly label: string
  readonly cpuMicros: number
  readonly perSecond: number
  readonly p99Ms: number
  readonly restartMs: number
  readonly memoryBytes: number
}

const stack = await startSinkStack({ wallets: SENDING })
const stages: Stage[] = []
try {
  const fewWallets = Math.max(0, walletsFew - SENDING)
  await stage(`${count(walletsFew)} wallets, ${count(pastFew)} past`, async (filler) => {
    await filler.addWallets(fewWallets)
    await filler.addPast(pastFew)
  })
  await stage(`${count(walletsFew)} wallets, ${count(pastMany)} past`, (filler) =>
    filler.addPast(pastMany - pastFew),
  )
  await stage(`${count(walletsMany)} wallets, ${count(pastMany)} past`, (filler) =>
    filler.addWallets(walletsMany - fewWallets),
  )
  await stage(`and ${count(open)} open at the start`, (filler) => filler.addOpen(open))
  const [first] = stages
  const relative = (stage: Stage | undefined) => (stage?.cpuMicros ?? 0) / (first?.cpuMicros ?? 1)
  const ratios = {
    cpu_with_past_vs_without: relative(stages[1]),
    cpu_with_wallets_vs_few: (stages[2]?.cpuMicros ?? 0) / (stages[1]?.cpuMicros ?? 1),
    cpu_full_vs_empty: relative(stages[2]),
  }
  console.log(
    table(
      ['store', 'CPU µs/send', '× first', '/s', 'p99 ms', 'restart s', 'S MiB'],
      stages.map((it) => [
        it.label,
        count(it.cpuMicros),
        relative(it).toFixed(2),
        count(it.perSecond),
        ms(it.p99Ms),
        (it.restartMs / 1_000).toFixed(1),
        (it.memoryBytes / MIB).toFixed(0),
      ]),
    ),
  )
  console.log('\nbars: CPU within 15 %, restart within 5 s, memory within 1,024 MiB')
  writeResults('flat.json', { context: runContext(), ratios, stages })
} finally {
  await stack.stop()
}

/** Fills the store while the service is down, then measures. */
async function stage(label: string, fill: (filler: StoreFiller) => Promise<void>): Promise<void> {
  const restartMs = await stack.restartService(async () => {
    const filler = openFiller(join(stack.home, 'service', 'store'))
    const startedAt = performance.now()
    await fill(filler)
    await filler.close()
    console.error(`bench  ${label}: filled in ${seconds(performance.now() - startedAt)} s`)
  })
  await measureWritePath(stack, { callers: CALLERS, runMs: 3_000 })
  const turns: WritePathFigures[] = []
  for (let turn = 0; turn < Number(values.turns); turn++) {
    turns.push(await measureWritePath(stack, { callers: CALLERS, runMs }))
  }
  const cpuOf = ({ cpuMicros }: WritePathFigures) =>
    ['service', 'identity', 'quorum'].reduce((sum, it) => sum + (cpuMicros[it]?.total ?? 0), 0)
  stages.push({
    label,
    cpuMicros: median(turns.map(cpuOf)),
    perSecond: median(turns.map(({ perSecond }) => perSecond)),
    p99Ms: median(turns.map(({ p99Ms }) => p99Ms)),
    restartMs,
    memoryBytes: residentBytes(stack.pids.service),
  })
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1_000).toFixed(1)
}
