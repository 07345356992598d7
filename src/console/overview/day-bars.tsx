import { formatMicros } from '../parts/money.js'
import { barHeights, dayName, type SpendByDay } from './spend-by-day.js'

const BAR = 10
const GAP = 2
const HEIGHT = 64

/** A bar for each day, with a text for screen readers. */
export function DayBars({ of: spend }: { readonly of: SpendByDay }) {
  const { days, totalMicros } = spend
  const heights = barHeights(spend)
  const width = days.length * (BAR + GAP) - GAP
  return (
    <svg
      viewBox={`0 0 ${width} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${formatMicros(totalMicros)} in all; most on ${dayName(busiest(spend))}`}
    >
      {days.map(({ date, micros }, index) => {
        const height = ((heights[index] ?? 0) * HEIGHT) / 1_000
        return (
          <rect key={date} x={index * (BAR + GAP)} y={HEIGHT - height} width={BAR} height={height}>
            <title>
              {dayName(date)}: {formatMicros(micros)}
            </title>
          </rect>
        )
      })}
    </svg>
  )
}

function busiest({ days }: SpendByDay): string {
  return days.reduce((best, one) => (one.micros > best.micros ? one : best), {
    date: days[0]?.date ?? '',
    micros: 0n,
  }).date
}
