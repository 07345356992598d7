import { formatMicros } from '../parts/money.js'
import { barHeights, clock, type SpendByHour } from './spend-by-hour.js'

const BAR = 10
const GAP = 2
const HEIGHT = 64

/** A bar for each hour, and in words for whoever does not see them. */
export function HourBars({ of: spend }: { readonly of: SpendByHour }) {
  const { hours, totalMicros } = spend
  const heights = barHeights(spend)
  const width = hours.length * (BAR + GAP) - GAP
  return (
    <svg
      viewBox={`0 0 ${width} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${formatMicros(totalMicros)} in all; most at ${clock(busiest(spend))}`}
    >
      {hours.map(({ fromMs, micros }, index) => {
        const height = ((heights[index] ?? 0) * HEIGHT) / 1_000
        return (
          <rect
            key={fromMs}
            x={index * (BAR + GAP)}
            y={HEIGHT - height}
            width={BAR}
            height={height}
          >
            <title>
              {clock(fromMs)}: {formatMicros(micros)}
            </title>
          </rect>
        )
      })}
    </svg>
  )
}

function busiest({ hours }: SpendByHour): number {
  return hours.reduce((best, one) => (one.micros > best.micros ? one : best), {
    fromMs: hours[0]?.fromMs ?? 0,
    micros: 0n,
  }).fromMs
}
