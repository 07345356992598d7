import { formatMicros } from '../parts/money.js'
import { Card } from '../parts/page.js'
import { Answered, Empty } from '../parts/states.js'
import { useTransactions } from '../queries.js'
import { HourBars } from './hour-bars.js'
import { clock, nothingSpent, type SpendByHour, spendByHour } from './spend-by-hour.js'

const ROWS = 100

/** When the money went, by hour. */
export function SpendChart() {
  const transactions = useTransactions({}, ROWS)
  return (
    <Card title="Spend, last 24 hours">
      <Answered query={transactions} what="spend">
        {({ pages }) => {
          const rows = pages.flatMap((page) => page.transactions)
          const spend = spendByHour(rows, pages.at(-1)?.next_cursor !== null, Date.now())
          if (spend.totalMicros === 0n) return <Empty title={nothingSpent(spend)} />
          return <Bars of={spend} />
        }}
      </Answered>
    </Card>
  )
}

function Bars({ of: spend }: { readonly of: SpendByHour }) {
  const { hours, totalMicros, sinceMs } = spend
  return (
    <figure class="chart">
      <HourBars of={spend} />
      <figcaption>
        <span>{clock(hours[0]?.fromMs ?? 0)}</span>
        <strong>{formatMicros(totalMicros)}</strong>
        <span>now</span>
      </figcaption>
      {sinceMs !== null && (
        <p class="small mute">
          Of the newest {ROWS} transactions, which reach back to {clock(sinceMs)}.
        </p>
      )}
    </figure>
  )
}
