import type { ClusterGround } from './cluster-nodes.js'
import { startCpuMeter } from './cpu.js'
import { median } from './figures.js'
import { grownBy, type JournalSize, journalSize } from './journal-size.js'
import { driveClosed, type LoadFigures } from './load/drive.js'
import { createSends, type WriteTarget } from './write-path.js'

/** A load on several nodes at once, and what each kind of process spends on it. */
export interface ClusterLoad {
  /** Callers are assigned to the nodes in turn. */
  readonly places: readonly Pick<WriteTarget, 'port' | 'secrets' | 'chainId'>[]
  readonly pids: Readonly<Record<string, readonly number[]>>
  readonly ground: Pick<ClusterGround, 'servers' | 'journal'>
  readonly partitions: readonly number[]
}

export interface ClusterTurn extends LoadFigures {
  /** CPU per send, by kind of process; `journal` is both servers. */
  readonly micros: Readonly<Record<string, number>>
  readonly appended: JournalSize
}

/** @throws Error if a send is refused, because the figures would then measure something else */
export async function driveCluster(
  { places, pids, ground, partitions }: ClusterLoad,
  { callers, runMs }: { readonly callers: number; readonly runMs: number },
): Promise<ClusterTurn> {
  const sends = places.map(createSends)
  const placeOf = (caller: number) => caller % places.length
  const before = await journalSize(ground.journal, partitions)
  const meters = Object.entries(pids).map(([kind, of]) => {
    const named = of.map((pid): [string, number] => [String(pid), pid])
    return [kind, startCpuMeter(Object.fromEntries(named))] as const
  })
  const spentByServers = ground.servers.meter()
  const figures = await driveClosed({
    port: (caller) => places[placeOf(caller)]?.port ?? 0,
    ...{ callers, runMs },
    next: (caller) => sends[placeOf(caller)]?.(caller) ?? '',
  })
  const done = Math.max(1, figures.done)
  const micros = Object.fromEntries(
    meters.map(([kind, spent]) => {
      const total = Object.values(spent()).reduce((sum, { total: each }) => sum + each, 0)
      return [kind, total / done]
    }),
  )
  const journal = spentByServers() / done
  const refused = Object.keys(figures.refused)
  if (refused.length > 0) throw new Error(`sends were refused: ${refused.join(', ')}`)
  const appended = grownBy(before, await journalSize(ground.journal, partitions))
  return { ...figures, micros: { ...micros, journal }, appended }
}

/** Medians of turns of one kind. */
export function summaryOf(turns: readonly ClusterTurn[]) {
  const of = (value: (turn: ClusterTurn) => number) => median(turns.map(value))
  const total = (value: (turn: ClusterTurn) => number) =>
    turns.reduce((sum, turn) => sum + value(turn), 0)
  const sends = Math.max(
    1,
    total(({ done }) => done),
  )
  const kinds = Object.keys(turns[0]?.micros ?? {})
  return {
    perSecond: of(({ perSecond }) => perSecond),
    p50Ms: of(({ p50Ms }) => p50Ms),
    p99Ms: of(({ p99Ms }) => p99Ms),
    micros: Object.fromEntries(
      kinds.map((kind) => [kind, of(({ micros }) => micros[kind] ?? 0)]),
    ) as Readonly<Record<string, number>>,
    entriesASend: total(({ appended }) => appended.entries) / sends,
    bytesASend: total(({ appended }) => appended.bytes) / sends,
  }
}
