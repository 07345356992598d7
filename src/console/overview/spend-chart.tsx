import { useQuery } from '@tanstack/preact-query'
import { call } from '../api.js'
import { onePerLineage } from '../keys/lineages.js'
import { formatMicros } from '../parts/money.js'
import { Card } from '../parts/page.js'
import { Answered, Empty } from '../parts/states.js'
import { DayBars } from './day-bars.js'
import { DAYS, dayName, NOTHING_SPENT, type SpendByDay, spendByDay } from './spend-by-day.js'

const ROWS = 100

/** When the money went, by UTC day. */
export function SpendChart() {
  const spend = useQuery({
    queryKey: ['/api/v1/agent/spend', 'by day'],
    queryFn: () => call('GET', '/api/v1/agent/spend', { limit: ROWS, days: DAYS }),
  })
  return (
    <Card title={`Spend, last ${DAYS} days`}>
      <Answered query={spend} what="spend">
        {({ keys, next_cursor }) => {
          // What a key's children spend counts on it as well.
          const own = onePerLineage(keys).filter(({ parent_key_id }) => parent_key_id === null)
          const byDay = spendByDay(own)
          if (byDay.totalMicros === 0n) return <Empty title={NOTHING_SPENT} />
          return <Bars of={byDay} hasMore={next_cursor !== null} />
        }}
      </Answered>
    </Card>
  )
}

function Bars({ of: spend, hasMore }: { readonly of: SpendByDay; readonly hasMore: boolean }) {
  return (
    <figure class="chart">
      <DayBars of={spend} />
      <figcaption>
        <span>{dayName(spend.days[0]?.date ?? '')}</span>
        <strong>{formatMicros(spend.totalMicros)}</strong>
        <span>today, UTC</span>
      </figcaption>
      {hasMore && <p class="small mute">Of the newest {ROWS} keys; there are more.</p>}
    </figure>
  )
}
