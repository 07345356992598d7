import { table } from './figures.js'
import type { ResultsFile } from './results-file.js'

/** A table of the ratios that either file has. */
export function compareRatios(before: ResultsFile, after: ResultsFile): string {
  const names = new Set([...Object.keys(before.ratios), ...Object.keys(after.ratios)])
  const rows = [...names].map((name) => {
    const [from, to] = [before.ratios[name], after.ratios[name]]
    const known = from !== undefined && to !== undefined && from !== 0
    return [name, number(from), number(to), known ? percent(to / from - 1) : '–']
  })
  const head = [
    'ratio',
    before.context.commit ?? 'before',
    after.context.commit ?? 'after',
    'change',
  ]
  return table(head, rows)
}

function number(value: number | undefined): string {
  return value === undefined ? '–' : value.toFixed(3)
}

function percent(change: number): string {
  return `${change >= 0 ? '+' : ''}${(change * 100).toFixed(1)} %`
}
