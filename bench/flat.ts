import { join } from 'node:path'
import { gigabytes, shortOfDisk } from './disk.js'
import { count, median, ms, table, verdicts } from './figures.js'
import { openFiller, type StoreFiller } from './fill-store.js'
import { type Held, heldBy, MIB } from './memory.js'
import { number, numbers } from './option-kinds.js'
import { readOptions, refuse } from './options.js'
import { publish } from './results-file.js'
import { say } from './say.js'
import { type SinkStack, startSinkStack } from './sink-stack.js'
import { measureWritePath, type WritePathFigures } from './write-path.js'

/**
 * `npm run bench -- flat`: whether a send costs the same however many wallets and past transactions
 * the store has, and how long the service takes to restart with all of them. Two services run side
 * by side, one with a small store and one with a growing store, and are driven alternately, so that
 * disturbances on the machine affect both. Only the service's store is filled; the two domains have
 * shares only of the wallets that send.
 */
const SENDING = 128
/** Bytes on disk after filling: a wallet with its key, a past transaction with its index. */
const WALLET_BYTES = 1_500
const PAST_BYTES = 1_900
/** The sends of all turns, twice. */
const BASE_BYTES = 1e9
const run = readOptions({
  name: 'flat',
  takes: 'about 25 minutes with the defaults, most of it filling the store',
  disk: `${gigabytes(neededBytes(1_000_000, 10_000_000))} with the defaults, removed at the end`,
  results: 'flat.json',
  runsOn: 'linux',
  options: {
    wallets: numbers('sub-wallets in the store, few and many', {
      steps: 'whole',
      min: SENDING,
      max: 20_000_000,
      byDefault: [1_000, 1_000_000],
      countMin: 2,
      countMax: 2,
    }),
    transactions: numbers('past transactions, few and many', {
      steps: 'whole',
      min: 0,
      max: 200_000_000,
      byDefault: [0, 10_000_000],
      countMin: 2,
      countMax: 2,
    }),
    open: number('open transactions at the last start', {
      steps: 'whole',
      min: 0,
      max: 1_000_000,
      byDefault: 10_000,
    }),
    seconds: number('how long each turn', { steps: 'any', min: 0.5, max: 600, byDefault: 4 }),
    turns: number('turns of each service', { steps: 'whole', min: 1, max: 100, byDefault: 5 }),
  },
})
const { open, turns } = run.values
const [walletsFew = 0, walletsMany = 0] = run.values.wallets
const [pastFew = 0, pastMany = 0] = run.values.transactions
const runMs = run.values.seconds * 1_000
if (walletsMany < walletsFew) refuse('--wallets takes the smaller number first')
if (pastMany < pastFew) refuse('--transactions takes the smaller number first')
const short = shortOfDisk(neededBytes(walletsMany, pastMany))
if (short !== null) refuse(`${short}; --wallets and --transactions take smaller numbers too`)
const CALLERS = 64
const WARM_UP_MS = 5_000
const COST_BAR = 1.15
const RESTART_BAR_MS = 5_000
const MEMORY_BAR_BYTES = 1_024 * MIB

interface Stage {
  readonly label: string
  /** CPU per send of the service, U and Q; median of the turns. */
  readonly cpuMicros: number
  /** The same for the small store, in the turns between. */
  readonly smallCpuMicros: number
  readonly perSecond: number
  readonly p99Ms: number
  /** From the start of a killed service until it was ready. */
  readonly restartMs: number
  readonly afterStart: Held
  readonly afterLoad: Held
}

const stacks: SinkStack[] = []
const stages: Stage[] = []
try {
  const small = await opened()
  const grown = await opened()
  const fewWallets = Math.max(0, walletsFew - SENDING)
  const few = async (filler: StoreFiller) => {
    await filler.addWallets(fewWallets)
    await filler.addPast(pastFew)
  }
  await filled(small, 'the small store', few)
  const stage = async (label: string, fill: (filler: StoreFiller) => Promise<void>) => {
    stages.push(await measured(small, grown, label, fill))
    say(`${label} is measured`)
  }
  await stage(`${count(walletsFew)} wallets, ${count(pastFew)} past`, few)
  await stage(`${count(walletsMany)} wallets, ${count(pastFew)} past`, (filler) =>
    filler.addWallets(walletsMany - walletsFew),
  )
  await stage(`${count(walletsMany)} wallets, ${count(pastMany)} past`, (filler) =>
    filler.addPast(pastMany - pastFew),
  )
  await stage(`and ${count(open)} open at the start`, (filler) => filler.addOpen(open))
  report()
} finally {
  for (const stack of stacks) await stack.stop()
}

async function opened(): Promise<SinkStack> {
  const stack = await startSinkStack({ wallets: SENDING })
  stacks.push(stack)
  return stack
}

/**
 * Fills a store while its service is down.
 * @returns milliseconds that the service took to restart
 */
async function filled(
  stack: SinkStack,
  label: string,
  fill: (filler: StoreFiller) => Promise<void>,
): Promise<number> {
  return await stack.restartService(async () => {
    const filler = openFiller(join(stack.home, 'service', 'store'), (written, of) =>
      say(`${label}: ${count(written)} of ${count(of)}`),
    )
    const startedAt = performance.now()
    await fill(filler)
    await filler.close()
    say(`${label}: filled in ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`)
  })
}

async function measured(
  small: SinkStack,
  grown: SinkStack,
  label: string,
  fill: (filler: StoreFiller) => Promise<void>,
): Promise<Stage> {
  const restartMs = await filled(grown, label, fill)
  const afterStart = heldBy(grown.pids.service)
  const loads = { small: [] as WritePathFigures[], grown: [] as WritePathFigures[] }
  for (const stack of [small, grown]) {
    await measureWritePath(stack, { callers: CALLERS, runMs: WARM_UP_MS })
  }
  for (let turn = 0; turn < turns; turn++) {
    loads.small.push(await measureWritePath(small, { callers: CALLERS, runMs }))
    loads.grown.push(await measureWritePath(grown, { callers: CALLERS, runMs }))
  }
  return {
    label,
    cpuMicros: median(loads.grown.map(cpuOf)),
    smallCpuMicros: median(loads.small.map(cpuOf)),
    perSecond: median(loads.grown.map(({ perSecond }) => perSecond)),
    p99Ms: median(loads.grown.map(({ p99Ms }) => p99Ms)),
    restartMs,
    afterStart,
    afterLoad: heldBy(grown.pids.service),
  }
}

function cpuOf({ cpuMicros }: WritePathFigures): number {
  return ['service', 'identity', 'quorum'].reduce((sum, it) => sum + (cpuMicros[it]?.total ?? 0), 0)
}

function report(): void {
  const cost = ({ cpuMicros, smallCpuMicros }: Stage) => cpuMicros / smallCpuMicros
  const [same, wallets, past] = stages.map(cost)
  const last = stages.at(-1)
  const restartMs = last?.restartMs ?? Number.POSITIVE_INFINITY
  const memoryBytes = Math.max(...stages.map(({ afterLoad }) => afterLoad.ownBytes))
  const ratios = {
    cpu_same_vs_small: same ?? 0,
    cpu_with_wallets_vs_small: wallets ?? 0,
    cpu_with_wallets_and_past_vs_small: past ?? 0,
  }
  const mib = (bytes: number) => (bytes / MIB).toFixed(0)
  const stagesTable = table(
    [
      ...['store', 'CPU µs/send', 'small store', 'ratio', '/s', 'p99 ms', 'restart s'],
      ...['S own MiB', 'after load', 'with pages of the store'],
    ],
    stages.map((it) => [
      it.label,
      count(it.cpuMicros),
      count(it.smallCpuMicros),
      cost(it).toFixed(2),
      count(it.perSecond),
      ms(it.p99Ms),
      (it.restartMs / 1_000).toFixed(1),
      mib(it.afterStart.ownBytes),
      mib(it.afterLoad.ownBytes),
      mib(it.afterLoad.residentBytes),
    ]),
  )
  const bars = {
    // Over the contents of the store. The last stage also watches transactions that never confirm,
    // which is additional work.
    cost_is_flat: Math.max(...stages.slice(0, -1).map(cost)) <= COST_BAR,
    restart_in_time: restartMs <= RESTART_BAR_MS,
    memory_in_bounds: memoryBytes <= MEMORY_BAR_BYTES,
  }
  const said =
    'bars: CPU within 15 % of the small store before the last stage, restart within 5 s, own memory ≤ 1 GiB'
  publish(run, { ratios, bars, stages }, [stagesTable, '', said, ...verdicts(bars)].join('\n'))
}

/** Disk space of the grown store, the small one and both ledgers, with a fifth to spare. */
function neededBytes(wallets: number, past: number): number {
  return 1.2 * (BASE_BYTES + wallets * WALLET_BYTES + past * PAST_BYTES)
}
