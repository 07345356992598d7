import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Journal } from '../src/journal/journal.js'
import { openPostgresJournal } from '../src/journal/postgres-journal.js'
import { PARTITION } from '../src/store/journaled-store.js'
import { barChart } from './chart.js'
import { measureCells } from './cluster-cells.js'
import { measureFollowers } from './cluster-followers.js'
import { TAIL_MIB } from './cluster-nodes.js'
import { count, median, ms, table } from './figures.js'
import { grownBy, type JournalSize, journalSize } from './journal-size.js'
import { number, numbers } from './option-kinds.js'
import { readOptions, refuse } from './options.js'
import { type JournalServers, startJournalServers } from './postgres.js'
import { publish, writeResults } from './results-file.js'
import { say } from './say.js'
import { type SinkStack, startSinkStack } from './sink-stack.js'
import { makeDirectory } from './temporary.js'
import { CALLERS_MAX, WALLETS } from './usage-parts.js'
import { measureWritePath, type WritePathFigures } from './write-path.js'

/**
 * `npm run bench -- cluster`: the cost of a journal for a send. The same service runs three times,
 * with commits only in its own store, also in one Postgres, and in one that waits for a standby;
 * they alternate, each round in the opposite order. Everything runs on this machine, so network
 * latency is not included, but the servers' CPU is.
 *
 * With `--followers` it measures the effect of standbys instead, with `--cells` that of several
 * leaders at once.
 */
const run = readOptions({
  name: 'cluster',
  takes:
    'about 2 minutes, and 12 times --seconds a round: 8 minutes; each of --cells 1 minute and 4 times, --followers 2 and 12 times',
  disk: 'about 12 kB a send: 2 GB',
  results: 'cluster.json',
  runsOn: 'linux',
  options: {
    callers: numbers('callers at once, a load each', {
      ...{ steps: 'whole', min: 1, max: CALLERS_MAX, byDefault: [1, 16, 64, 256] },
      ...{ countMin: 1, countMax: 16 },
    }),
    rounds: number('rounds of all', { steps: 'whole', min: 1, max: 1_000, byDefault: 8 }),
    seconds: number('how long each', { steps: 'any', min: 0.5, max: 3_600, byDefault: 4 }),
    warm: number('seconds each service is driven before', {
      ...{ steps: 'any', min: 0.5, max: 600, byDefault: 20 },
    }),
    wallets: WALLETS,
    followers: number('standbys that follow the owner, in place of the stores', {
      ...{ steps: 'whole', min: 0, max: 8, byDefault: 0 },
    }),
    cells: numbers('owners at once, in place of the stores: callers and wallets are of each', {
      ...{ steps: 'whole', min: 1, max: 12, byDefault: [], countMin: 1, countMax: 8 },
    }),
  },
})
const { callers, rounds, seconds, wallets, warm, followers, cells } = run.values
const WARM_UP_CALLERS = 128

const STORES = ['embedded', 'one server', 'with a standby'] as const
type Store = (typeof STORES)[number]
const COPIES = { 'one server': 1, 'with a standby': 2 } as const

interface Turn extends WritePathFigures {
  /** CPU of all journal servers, in microseconds per send. */
  readonly journalMicros: number
  readonly appended: JournalSize
}

interface Measured {
  readonly store: Store
  readonly stack: SinkStack
  readonly servers: JournalServers | null
  readonly journal: Journal | null
  readonly turns: Map<number, Turn[]>
}

const undone: (() => Promise<unknown> | unknown)[] = []

async function startWith(store: Store): Promise<Measured> {
  const turns = new Map(callers.map((each): [number, Turn[]] => [each, []]))
  if (store === 'embedded') {
    const stack = await startSinkStack({ wallets })
    undone.push(() => stack.stop())
    return { store, stack, servers: null, journal: null, turns }
  }
  const servers = await startJournalServers(COPIES[store])
  undone.push(() => servers.stop())
  const directory = makeDirectory()
  undone.push(() => directory.remove())
  const file = join(directory.path, 'journal.json')
  writeFileSync(file, JSON.stringify({ postgres: [servers.url] }), { mode: 0o600 })
  const env = { COUNTERSIGN_JOURNAL_FILE: file, COUNTERSIGN_JOURNAL_TAIL_MIB: TAIL_MIB }
  const stack = await startSinkStack({ wallets, env })
  undone.push(() => stack.stop())
  const journal = await openPostgresJournal([servers.url], {
    warn: (_context, message) => say(message),
  })
  undone.push(() => journal.close())
  return { store, stack, servers, journal, turns }
}

async function turnOf(
  { stack, servers, journal }: Measured,
  load: { readonly callers: number; readonly runMs: number },
): Promise<Turn> {
  const before = await journalSize(journal, [PARTITION])
  const spent = servers?.meter()
  const figures = await measureWritePath(stack, load)
  const micros = spent?.() ?? 0
  const appended = grownBy(before, await journalSize(journal, [PARTITION]))
  const journalMicros = micros / Math.max(1, figures.done)
  return { ...figures, journalMicros, appended }
}

/** Medians of the turns of a store with this many callers, compared with the embedded one. */
function comparedOf(one: Measured, each: number, embedded: Measured) {
  const turns = one.turns.get(each) ?? []
  const of = (value: (turn: Turn) => number) => median(turns.map(value))
  const total = (value: (turn: Turn) => number) => turns.reduce((sum, turn) => sum + value(turn), 0)
  const sends = total(({ done }) => done)
  const entries = total(({ appended }) => appended.entries)
  const bytes = total(({ appended }) => appended.bytes)
  const cpu = (name: string) => of(({ cpuMicros }) => cpuMicros[name]?.total ?? 0)
  const byRound = turns.map(
    ({ perSecond }, round) => perSecond / (embedded.turns.get(each)?.[round]?.perSecond ?? 1),
  )
  return {
    ...{ store: one.store, callers: each, perSecond: of((turn) => turn.perSecond) },
    ...{ p50Ms: of((turn) => turn.p50Ms), p99Ms: of((turn) => turn.p99Ms) },
    vsEmbedded: median(byRound),
    serviceMicros: cpu('service'),
    identityMicros: cpu('identity'),
    quorumMicros: cpu('quorum'),
    journalMicros: of((turn) => turn.journalMicros),
    sendsAnEntry: entries === 0 ? null : sends / entries,
    bytesASend: entries === 0 ? null : bytes / Math.max(1, sends),
  }
}

type Compared = ReturnType<typeof comparedOf>

function rowOf(each: Compared): string[] {
  const { store, perSecond, vsEmbedded, p50Ms, p99Ms, sendsAnEntry, bytesASend } = each
  const micros = [each.serviceMicros, each.identityMicros, each.quorumMicros, each.journalMicros]
  return [
    ...[store, String(each.callers), count(perSecond), vsEmbedded.toFixed(2), ms(p50Ms), ms(p99Ms)],
    ...micros.map(count),
    ...[sendsAnEntry === null ? '–' : sendsAnEntry.toFixed(1)],
    ...[bytesASend === null ? '–' : count(bytesASend)],
  ]
}

const HEAD = [
  ...['commits in', 'callers', '/s', '÷ embedded', 'p50 ms', 'p99 ms'],
  ...['service µs', 'identity µs', 'quorum µs', 'journal µs', 'sends/entry', 'bytes/send'],
]

const nameOf = ({ store, callers: by }: Compared) =>
  `writes_${store.replaceAll(' ', '_')}_${by}_callers_vs_embedded`

function chartOf(compared: readonly Compared[]): string {
  const groups = callers.map((each) => ({
    title: each === 1 ? 'Sends a second, 1 caller' : `Sends a second, ${each} callers`,
    bars: compared
      .filter((one) => one.callers === each)
      .map(({ store, perSecond }) => ({
        ...{ label: store, value: perSecond, text: `${count(perSecond)}/s` },
      })),
  }))
  const lone = compared.filter((one) => one.callers === Math.min(...callers))
  const waits = {
    title: `p50 with ${Math.min(...callers)} caller(s)`,
    bars: lone.map(({ store, p50Ms }) => ({ label: store, value: p50Ms, text: `${ms(p50Ms)} ms` })),
  }
  return barChart([...groups, waits])
}

async function measureStores(): Promise<void> {
  const all: Measured[] = []
  for (const store of STORES) {
    say(`starts: ${store}`)
    const measured = await startWith(store)
    await measureWritePath(measured.stack, { callers: WARM_UP_CALLERS, runMs: warm * 1_000 })
    all.push(measured)
  }
  for (let round = 0; round < rounds; round++) {
    say(`round ${round + 1} of ${rounds}`)
    for (const each of callers) {
      for (const one of round % 2 === 0 ? all : all.toReversed()) {
        const turn = await turnOf(one, { callers: each, runMs: seconds * 1_000 })
        const refused = Object.keys(turn.refused)
        if (refused.length > 0) throw new Error(`${one.store} refused sends: ${refused.join(', ')}`)
        one.turns.get(each)?.push(turn)
      }
    }
  }
  const [embedded] = all as [Measured, ...Measured[]]
  const compared: Compared[] = []
  for (const one of all) {
    for (const each of callers) compared.push(comparedOf(one, each, embedded))
  }
  const ratios = Object.fromEntries(
    compared
      .filter(({ store }) => store !== 'embedded')
      .map((each) => [nameOf(each), each.vsEmbedded]),
  )
  publish(run, { ratios, compared }, table(HEAD, compared.map(rowOf)))
  say(writeResults('cluster.svg', chartOf(compared)))
}

if (followers > 0 && cells.length > 0) refuse('--followers and --cells are two measurements')
if (cells.length > 0) {
  const { ratios, rows, text, chart } = await measureCells(cells, run.values)
  publish({ ...run, results: 'cluster-cells.json' }, { ratios, cells: rows }, text)
  say(writeResults('cluster-cells.svg', chart))
} else if (followers > 0) {
  const { ratios, rows, text } = await measureFollowers(followers, run.values)
  publish({ ...run, results: 'cluster-followers.json' }, { ratios, followed: rows }, text)
} else {
  try {
    await measureStores()
  } finally {
    for (const undo of undone.toReversed()) await undo()
  }
}
