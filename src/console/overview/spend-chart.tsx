import { formatMicros } from '../parts/money.js'
import { Card } from '../parts/page.js'
import { Answered, Empty } from '../parts/states.js'
import { useSpendByDay } from '../queries.js'
import { DayBars } from './day-bars.js'
import { DAYS, dayName, NOTHING_SPENT, type SpendByDay, spendByDay } from './spend-by-day.js'

/** Spend of all keys by UTC day. */
export function SpendChart() {
  const totals = useSpendByDay()
  return (
    <Card title={`Spend, last ${DAYS} days`}>
      <Answered query={totals} what="spend">
        {(ofAll) => {
          const byDay = spendByDay([ofAll])
          if (byDay.totalMicros === 0n) return <Empty title={NOTHING_SPENT} />
          return <Bars of={byDay} />
        }}
      </Answered>
    </Card>
  )
}

function Bars({ of: spend }: { readonly of: SpendByDay }) {
  return (
    <figure class="chart">
      <DayBars of={spend} />
      <figcaption>
        <span>{dayName(spend.days[0]?.date ?? '')}</span>
        <strong>{formatMicros(spend.totalMicros)}</strong>
        <span>today, UTC</span>
      </figcaption>
    </figure>
  )
}
