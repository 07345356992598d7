import { count, ms, table } from './figures.js'
import { number } from './option-kinds.js'
import { readOptions } from './options.js'
import { publish } from './results-file.js'
import { measureWatcher, type WatcherFigures, type WatcherLoad } from './watcher-run.js'

/**
 * `npm run bench -- watcher`: the cost per block of following three chains, by open transactions, by
 * wallets that have some, and by existing wallets. Watcher actors, store, RPC client and HTTP are
 * real; the nodes are stubs, and messages to wallets are counted but not handled.
 */
const run = readOptions({
  name: 'watcher',
  takes: 'about 20 s, and 1.6 s for each of --blocks',
  disk: 'about 200 MB',
  results: 'watcher.json',
  runsOn: 'any',
  options: {
    blocks: number('blocks of each chain', { steps: 'whole', min: 1, max: 1_000, byDefault: 20 }),
  },
})
const CHAINS = [1, 137, 8453] as const
const LOADS: readonly Pick<WatcherLoad, 'wallets' | 'owners' | 'open'>[] = [
  { wallets: 1_000, owners: 1_000, open: 1_000 },
  { wallets: 1_000, owners: 1_000, open: 10_000 },
  { wallets: 100_000, owners: 1_000, open: 10_000 },
  { wallets: 100_000, owners: 10_000, open: 10_000 },
]

const figures: WatcherFigures[] = []
for (const load of LOADS) {
  figures.push(await measureWatcher({ ...load, chainIds: CHAINS, blocks: run.values.blocks }))
}

const loadsTable = table(
  ['wallets', 'with open', 'open', 'CPU µs/block', 'RPC/block', 'HTTP/block', 'told', 'load ms'],
  figures.map((it) => [
    count(it.wallets),
    count(it.owners),
    count(it.open),
    count(it.cpuMicrosPerBlock),
    it.rpcCallsPerBlock.toFixed(1),
    it.httpRequestsPerBlock.toFixed(1),
    count(it.toldPerBlock),
    ms(it.loadMs),
  ]),
)
const methods = [...new Set(figures.flatMap(({ callsPerBlock }) => Object.keys(callsPerBlock)))]
const callsTable = table(
  [
    'RPC calls per block',
    ...figures.map(({ wallets, owners, open }) => [wallets, owners, open].map(count).join('/')),
  ],
  methods.map((method) => [
    method,
    ...figures.map(({ callsPerBlock }) => (callsPerBlock[method] ?? 0).toFixed(1)),
  ]),
)
const [base, open, wallets, owners] = figures.map(({ cpuMicrosPerBlock }) => cpuMicrosPerBlock)
const share = (of = 0, by = 1) => of / by
/** Each load compared with the one before it. */
const ratios = {
  cpu_with_10x_open: share(open, base),
  cpu_with_100x_wallets: share(wallets, open),
  cpu_with_10x_owners: share(owners, wallets),
}
publish(run, { ratios, loads: figures }, `${loadsTable}\n\n${callsTable}`)
