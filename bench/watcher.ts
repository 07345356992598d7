import { count, ms, table } from './figures.js'
import { measureWatcher, type WatcherFigures, type WatcherLoad } from './watcher-run.js'

/**
 * `npm run bench:watcher`: what following three chains costs per block, by open transactions, by
 * wallets that have some, and by wallets that exist. Real watcher actors, store, RPC client and
 * HTTP; the nodes are stubs, and messages to wallets are counted, not acted on. `--json` prints
 * the figures as one JSON document instead of a table.
 */
const CHAINS = [1, 137, 8453] as const
const BLOCKS = 20
const LOADS: readonly Pick<WatcherLoad, 'wallets' | 'owners' | 'open'>[] = [
  { wallets: 1_000, owners: 1_000, open: 1_000 },
  { wallets: 1_000, owners: 1_000, open: 10_000 },
  { wallets: 100_000, owners: 1_000, open: 10_000 },
  { wallets: 100_000, owners: 10_000, open: 10_000 },
]

const figures: WatcherFigures[] = []
for (const load of LOADS) {
  figures.push(await measureWatcher({ ...load, chainIds: CHAINS, blocks: BLOCKS }))
}

if (process.argv.includes('--json')) console.log(JSON.stringify(figures, null, 2))
else {
  console.log(
    table(
      [
        'wallets',
        'with open',
        'open',
        'CPU µs/block',
        'RPC/block',
        'HTTP/block',
        'told',
        'load ms',
      ],
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
    ),
  )
  const methods = [...new Set(figures.flatMap(({ callsPerBlock }) => Object.keys(callsPerBlock)))]
  console.log(
    `\n${table(
      [
        'RPC calls per block',
        ...figures.map(({ wallets, owners, open }) => [wallets, owners, open].map(count).join('/')),
      ],
      methods.map((method) => [
        method,
        ...figures.map(({ callsPerBlock }) => (callsPerBlock[method] ?? 0).toFixed(1)),
      ]),
    )}`,
  )
}
