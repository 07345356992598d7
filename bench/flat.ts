import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { count, median, ms, table } from './figures.js'
import { openFiller, type StoreFiller } from './fill-store.js'
import { type Held, heldBy, MIB } from './memory.js'
import { runContext, writeResults } from './results-file.js'
import { type SinkStack, startSinkStack } from './sink-stack.js'
import { measureWritePath, type WritePathFigures } from './write-path.js'

/**
 * `npm run bench:flat`: whether a send costs the same however many wallets and past transactions
 * the store holds, and how long the service takes to come back with all of them. Two services run
 * side by side, one with a small store and one that grows, and are driven in turns, so that what
 * else the machine does falls on both. What is filled in is the service's store; the two domains
 * hold shares of the wallets that send.
 */
const { values } = parseArgs({
  options: {
    wallets: { type: 'string', default: '1000,1000000' },
    transactions: { type: 'string', default: '0,10000000' },
    open: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '4' },
    turns: { type: 'string', default: '5' },
  },
})
const [walletsFew = 0, walletsMany = 0] = values.wallets.split(',').map(Number)
const [pastFew = 0, pastMany = 0] = values.transactions.split(',').map(Number)
const open = Number(values.open)
const runMs = Number(values.seconds) * 1_000
const SENDING = 128
const CALLERS = 64
const WARM_UP_MS = 2_000
const COST_BAR = 1.15
const RESTART_BAR_MS = 5_000
const MEMORY_BAR_BYTES = 1_024 * MIB

interface Stage {
  readonly label: string
  /** Per send, of the service, U and Q; median of the turns. */
  readonly cpuMicros: number
  /** The same of the small store, in the turns between. */
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

/** Fills a store while its service is down. @returns milliseconds the service took to come back */
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
  const turns = { small: [] as WritePathFigures[], grown: [] as WritePathFigures[] }
  for (const stack of [small, grown]) {
    await measureWritePath(stack, { callers: CALLERS, runMs: WARM_UP_MS })
  }
  for (let turn = 0; turn < Number(values.turns); turn++) {
    turns.small.push(await measureWritePath(small, { callers: CALLERS, runMs }))
    turns.grown.push(await measureWritePath(grown, { callers: CALLERS, runMs }))
  }
  return {
    label,
    cpuMicros: median(turns.grown.map(cpuOf)),
    smallCpuMicros: median(turns.small.map(cpuOf)),
    perSecond: median(turns.grown.map(({ perSecond }) => perSecond)),
    p99Ms: median(turns.grown.map(({ p99Ms }) => p99Ms)),
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
  console.log(
    table(
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
    ),
  )
  const bars = {
    cost_is_flat: Math.max(...stages.map(cost)) <= COST_BAR,
    restart_in_time: restartMs <= RESTART_BAR_MS,
    memory_in_bounds: memoryBytes <= MEMORY_BAR_BYTES,
  }
  console.log('\nbars: CPU within 15 % of the small store, restart within 5 s, own memory ≤ 1 GiB')
  for (const [bar, met] of Object.entries(bars)) console.log(`${bar}: ${met ? 'met' : 'NOT met'}`)
  writeResults('flat.json', { context: runContext(), ratios, bars, stages })
}

function say(line: string): void {
  process.stderr.write(`bench  ${line}\n`)
}
