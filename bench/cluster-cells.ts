import { mintConsoleToken } from '../scripts/dev/mint-console-token.js'
import { PARTITION_COUNT } from '../src/domain/partition.js'
import { accountsOfCells } from './accounts-of-cells.js'
import { type BarGroup, barChart } from './chart.js'
import type { ClusterPlan } from './cluster-followers.js'
import { type ClusterLoad, type ClusterTurn, driveCluster, summaryOf } from './cluster-load.js'
import { type ClusterGround, layGround } from './cluster-nodes.js'
import { count, ms, table } from './figures.js'
import { makeKeys } from './keys.js'
import { say } from './say.js'
import { issuerOf } from './sink-stack.js'

/** For each cell. */
const WARM_UP_CALLERS = 64
const PASSWORD = 'correct horse battery staple'

/** Kinds of processes, from those with one per cell to those with one for all. */
const KINDS = ['service', 'quorum', 'identity', 'journal'] as const

/**
 * Measures the cost of a send with several leaders at once, each with its own users, over one
 * identity provider and one pair of journal servers: one number of cells after another, with as
 * many callers for each cell.
 */
export async function measureCells(cells: readonly number[], plan: ClusterPlan) {
  const all = new Map<number, ReadonlyMap<number, ClusterTurn[]>>()
  for (const each of cells) {
    const ground = await layGround(each)
    try {
      all.set(each, await turnsOf(ground, each, plan))
    } finally {
      await ground.stop()
    }
  }
  const rows = cells.flatMap((each) =>
    plan.callers.map((callers) => {
      const own = summaryOf(all.get(each)?.get(callers) ?? [])
      const first = summaryOf(all.get(cells[0] ?? 0)?.get(callers) ?? [])
      return { cells: each, callers, ...own, vsFirst: own.perSecond / first.perSecond }
    }),
  )
  const ratios = Object.fromEntries(
    rows
      .filter(({ cells: each }) => each !== cells[0])
      .map(({ cells: each, callers, vsFirst }) => [
        `writes_${each}_cells_${callers}_callers_each_vs_${cells[0]}`,
        vsFirst,
      ]),
  )
  return { ratios, rows, text: table(HEAD, rows.map(cellsOf)), chart: chartOf(rows, cells, plan) }
}

async function turnsOf(
  ground: ClusterGround,
  cells: number,
  { callers, rounds, seconds, warm, wallets }: ClusterPlan,
): Promise<ReadonlyMap<number, ClusterTurn[]>> {
  say(`starts: ${named(cells, 'cell')}`)
  const load = await startCells(ground, cells, wallets)
  await driveCluster(load, { callers: cells * WARM_UP_CALLERS, runMs: warm * 1_000 })
  const turns = new Map(callers.map((each): [number, ClusterTurn[]] => [each, []]))
  for (let round = 0; round < rounds; round++) {
    say(`${named(cells, 'cell')}: round ${round + 1} of ${rounds}`)
    for (const each of callers) {
      const turn = await driveCluster(load, { callers: cells * each, runMs: seconds * 1_000 })
      turns.get(each)?.push(turn)
    }
  }
  return turns
}

/** Starts a leader for each cell, with one user, whose wallets are `wallets`. */
async function startCells(
  ground: ClusterGround,
  cells: number,
  wallets: number,
): Promise<ClusterLoad> {
  const all = dealt(cells)
  // A single cell needs no entry in the journal file.
  const envOf = (own: number) => ground.environmentOf(own, cells === 1 ? undefined : { all, own })
  const stack = await ground.startFirst({ wallets: 0, env: envOf(0) })
  const leaders = [{ port: stack.port, pids: stack.pids }]
  for (let own = 1; own < cells; own++) {
    const { port, pids } = await ground.startNode({ stack, env: envOf(own), role: 'owner' })
    leaders.push({ port, pids: { ...stack.pids, ...pids } })
  }
  const tokens = await tokensOf(stack.home, all)
  const places = []
  for (const [cell, { port }] of leaders.entries()) {
    const keys = await makeKeys(`http://127.0.0.1:${port}`, tokens[cell] ?? '', wallets)
    places.push({ port, chainId: stack.chainId, secrets: keys.map(({ secret }) => secret) })
  }
  return {
    ...{ places, ground, partitions: all.map((_, cell) => cell) },
    pids: {
      service: leaders.map(({ pids }) => pids.service),
      quorum: leaders.map(({ pids }) => pids.quorum),
      identity: [stack.pids.identity],
    },
  }
}

/** Divides the partitions as evenly as possible. */
function dealt(cells: number): readonly string[] {
  const from = (cell: number) => Math.floor((cell * PARTITION_COUNT) / cells)
  return Array.from({ length: cells }, (_, cell) => `${from(cell)}-${from(cell + 1) - 1}`)
}

/** @returns one token of a user of each cell */
async function tokensOf(home: string, cells: readonly string[]): Promise<readonly string[]> {
  const issuer = issuerOf(home)
  const emails = await accountsOfCells(home, cells, 'bench', PASSWORD)
  return Promise.all(emails.map((email) => mintConsoleToken({ issuer, email, password: PASSWORD })))
}

interface Row extends ReturnType<typeof summaryOf> {
  readonly cells: number
  /** For each cell. */
  readonly callers: number
  readonly vsFirst: number
}

const HEAD = [
  ...['cells', 'callers each', '/s', '÷ first', 'p50 ms', 'p99 ms'],
  ...KINDS.map((kind) => `${kind} µs`),
  ...['entries/send', 'bytes/send'],
]

function cellsOf(row: Row): string[] {
  const { cells, callers, perSecond, vsFirst, p50Ms, p99Ms, micros } = row
  return [
    ...[String(cells), String(callers), count(perSecond), vsFirst.toFixed(2), ms(p50Ms), ms(p99Ms)],
    ...KINDS.map((kind) => count(micros[kind] ?? 0)),
    ...[row.entriesASend.toFixed(3), count(row.bytesASend)],
  ]
}

/**
 * Shows the same costs twice: beside other numbers of cells, and beside other numbers of callers.
 */
function chartOf(
  rows: readonly Row[],
  cells: readonly number[],
  { callers }: Pick<ClusterPlan, 'callers'>,
): string {
  const bar = (row: Row, label: string) => {
    const parts = KINDS.map((kind) => row.micros[kind] ?? 0)
    const value = parts.reduce((sum, each) => sum + each, 0)
    const batch = row.entriesASend === 0 ? 0 : 1 / row.entriesASend
    return { label: `${label} (${batch.toFixed(1)} sends/entry)`, value, parts, text: count(value) }
  }
  const byCells = callers.map(
    (each): BarGroup => ({
      title: `CPU µs a send, ${named(each, 'caller')} of each cell`,
      bars: rows
        .filter((row) => row.callers === each)
        .map((row) => bar(row, named(row.cells, 'cell'))),
    }),
  )
  const byCallers = cells.map(
    (each): BarGroup => ({
      title: `CPU µs a send, ${named(each, 'cell')}`,
      bars: rows
        .filter((row) => row.cells === each)
        .map((row) => bar(row, named(row.callers, 'caller'))),
    }),
  )
  return barChart([...byCells, ...byCallers], KINDS)
}

function named(of: number, what: string): string {
  return `${of} ${what}${of === 1 ? '' : 's'}`
}
