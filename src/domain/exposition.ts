/** Prometheus text format 0.0.4, for counts in plain arrays. */

export type Labels = Readonly<Record<string, string | number>>
export type Sample = readonly [labels: Labels, value: number]

export interface Family {
  readonly name: string
  readonly type: 'counter' | 'gauge'
  readonly help: string
  readonly samples: readonly Sample[]
}

export function renderFamily({ name, type, help, samples }: Family): string {
  const lines = samples.map(([labels, value]) => `${name}${renderLabels(labels)} ${value}`)
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('\n')}\n`
}

export interface HistogramSeries {
  /** No value contains a quote, a backslash or a line break. */
  readonly labels: Labels
  /** Counts per bucket, not cumulative; one more than there are bounds, for larger values. */
  readonly counts: readonly number[]
  readonly sum: number
}

export function renderHistogram(
  name: string,
  help: string,
  bounds: readonly number[],
  all: readonly HistogramSeries[],
): string {
  const lines = [`# HELP ${name} ${help}`, `# TYPE ${name} histogram`]
  for (const { labels, counts, sum } of all) {
    let cumulative = 0
    counts.forEach((count, i) => {
      cumulative += count
      const le = bounds[i] ?? '+Inf'
      lines.push(`${name}_bucket${renderLabels({ ...labels, le })} ${cumulative}`)
    })
    lines.push(`${name}_sum${renderLabels(labels)} ${sum}`)
    lines.push(`${name}_count${renderLabels(labels)} ${cumulative}`)
  }
  return `${lines.join('\n')}\n`
}

function renderLabels(labels: Labels): string {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${value}"`)
  return parts.length === 0 ? '' : `{${parts.join(',')}}`
}
