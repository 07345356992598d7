import { barChart } from './chart.js'
import { count, ms, table, verdicts } from './figures.js'
import type { PartFigure } from './parts.js'
import { quorumTable } from './quorum-table.js'
import { readsTable } from './reads-table.js'
import type { RunContext } from './results-file.js'
import type { Round } from './round.js'
import type { WritePathFigures } from './write-path.js'
import { writeTable } from './write-table.js'

/** The results of one run of `npm run bench -- run`: medians over its rounds. */
export interface BenchResults extends Round {
  readonly rounds: number
  readonly parts: readonly PartFigure[]
  readonly anvil: readonly WritePathFigures[]
}

/** The ratios that should be reached. */
const BARS: Readonly<Record<string, number>> = {
  quorum_vs_bare_signing: 0.25,
  write_path_vs_quorum: 0.5,
  write_path_within_100ms_vs_quorum: 0.5,
  write_path_vs_plain: 2,
  write_path_within_100ms_vs_plain: 2,
  reads_vs_uws: 0.5,
  mcp_vs_rest: 0.5,
}
const ONE_CALLER_BAR_MS = 8

/** Whether this run reached its bars. */
export function barsOf({ ratios, oneCallerOverNodeMs }: Round): Record<string, boolean> {
  const named: Readonly<Record<string, number>> = ratios
  const reached = Object.entries(BARS).map(
    ([name, bar]) => [name, (named[name] ?? 0) >= bar] as const,
  )
  return {
    ...Object.fromEntries(reached),
    one_caller_over_node: oneCallerOverNodeMs <= ONE_CALLER_BAR_MS,
  }
}

export function printed(results: BenchResults, context: RunContext): string {
  const { rounds, quorum, quorumBeside, write, plain, reads, anvil } = results
  const { nodeP50Ms, oneCallerOverNodeMs } = results
  const { cpu, cores } = context.machine
  const oneCaller = write['1']
  return [
    `commit ${context.commit ?? 'unknown'}, Node ${context.node}, ${cores} × ${cpu}, medians of ${rounds}`,
    partsTable(results.parts),
    quorumTable(Object.values(quorum)),
    writeTable(
      'write path',
      [...Object.values(write), ...Object.values(plain), ...anvil],
      quorumBeside,
    ),
    `the quorum between these loads: ${count(quorumBeside)}/s`,
    `one caller: p50 ${ms(oneCaller?.p50Ms ?? 0)} ms, the node's answer ${ms(nodeP50Ms)} ms, over it ${ms(oneCallerOverNodeMs)} ms (bar ${ONE_CALLER_BAR_MS})`,
    readsTable(Object.values(reads)),
    ratiosTable(results.ratios),
    verdicts(barsOf(results)).join('\n'),
  ].join('\n\n')
}

export function chartOf(results: BenchResults): string {
  const { quorum, write, plain, reads, ratios } = results
  const rate = (label: string, perSecond: number) => ({
    label,
    value: perSecond,
    text: `${count(perSecond)}/s`,
  })
  return barChart([
    {
      title: 'Writes',
      bars: [
        ...Object.values(quorum).map((it) => rate(`quorum alone, ${it.label}`, it.perSecond)),
        ...Object.values(write).map((it) =>
          rate(`write path, ${callersText(it.callers)}`, it.perSecond),
        ),
        ...Object.values(plain).map((it) =>
          rate(`plain server, ${callersText(it.callers)}`, it.perSecond),
        ),
      ],
    },
    { title: 'Reads', bars: Object.values(reads).map((it) => rate(it.label, it.perSecond)) },
    {
      title: 'Ratios, and their bars',
      bars: Object.entries(ratios).map(([label, value]) => {
        const mark = BARS[label]
        const bar = { label, value, text: value.toFixed(2) }
        return mark === undefined ? bar : { ...bar, mark }
      }),
    },
  ])
}

function callersText(callers: number): string {
  return callers === 1 ? '1 caller' : `${callers} callers`
}

function partsTable(parts: readonly PartFigure[]): string {
  return table(
    ['part, one core', '/s', 'p50 µs', 'p99 µs'],
    parts.map(({ name, perSecond, p50Micros, p99Micros }) => [
      name,
      count(perSecond),
      p50Micros.toFixed(1),
      p99Micros.toFixed(1),
    ]),
  )
}

function ratiosTable(ratios: Round['ratios']): string {
  return table(
    ['ratio', 'is', 'bar'],
    Object.entries(ratios).map(([name, value]) => [
      name,
      value.toFixed(2),
      BARS[name] === undefined ? '' : `≥ ${BARS[name]}`,
    ]),
  )
}
