import { table } from './figures.js'
import type { ResultsFile } from './results-file.js'

/** One ratio in both files; null if a file lacks it or it cannot be computed. */
export interface RatioChange {
  readonly before: number | null
  readonly after: number | null
  /** Relative to `before`: 0.1 is a tenth more. */
  readonly change: number | null
}

/** By name, for the ratios in either file. */
export function comparison(before: ResultsFile, after: ResultsFile): Record<string, RatioChange> {
  const names = new Set([...Object.keys(before.ratios), ...Object.keys(after.ratios)])
  return Object.fromEntries(
    [...names].map((name) => {
      const [from = null, to = null] = [before.ratios[name], after.ratios[name]]
      const known = from !== null && to !== null && from !== 0
      return [name, { before: from, after: to, change: known ? to / from - 1 : null }]
    }),
  )
}

export function comparisonText(before: ResultsFile, after: ResultsFile): string {
  const rows = Object.entries(comparison(before, after)).map(([name, it]) => [
    name,
    number(it.before),
    number(it.after),
    it.change === null ? '–' : percent(it.change),
  ])
  const { context: from } = before
  const { context: to } = after
  return table(['ratio', from.commit ?? 'before', to.commit ?? 'after', 'change'], rows)
}

/** Reasons why the two may differ besides the measured code, one per line. */
export function differsIn(before: ResultsFile, after: ResultsFile): readonly string[] {
  const machine = ({ context }: ResultsFile) =>
    `${context.machine.cores} × ${context.machine.cpu}, Node ${context.node}`
  const options = ({ options: given }: ResultsFile) => JSON.stringify(given ?? {})
  return [
    ['machine', machine(before), machine(after)] as const,
    ['options', options(before), options(after)] as const,
  ]
    .filter(([, from, to]) => from !== to)
    .map(([what, from, to]) => `different ${what}: ${from} and ${to}`)
}

function number(value: number | null): string {
  return value === null ? '–' : value.toFixed(3)
}

function percent(change: number): string {
  return `${change >= 0 ? '+' : ''}${(change * 100).toFixed(1)} %`
}
