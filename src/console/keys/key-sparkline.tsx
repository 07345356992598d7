import { useQuery } from '@tanstack/preact-query'
import { call } from '../api.js'
import { DayBars } from '../overview/day-bars.js'
import { DAYS, NOTHING_SPENT, spendByDay } from '../overview/spend-by-day.js'
import { useInView } from '../parts/in-view.js'
import { formatMicros } from '../parts/money.js'
import { Answered } from '../parts/states.js'

/** One key's spend by day. A page has up to a hundred keys, so only those in sight are read. */
export function KeySparkline({ keyId }: { readonly keyId: string }) {
  const [ref, isInView] = useInView<HTMLDivElement>()
  return (
    <div class="sparkline" ref={ref}>
      {isInView && <Days keyId={keyId} />}
    </div>
  )
}

function Days({ keyId }: { readonly keyId: string }) {
  const spend = useQuery({
    // Not under the path that it reads; otherwise a busy fleet would reload every card with every
    // event.
    queryKey: ['spend-of-key', keyId],
    queryFn: () => call('GET', '/api/v1/agent/spend', { key_id: keyId, days: DAYS }),
  })
  return (
    <Answered query={spend} what="spend">
      {({ keys }) => {
        const byDay = spendByDay(keys)
        if (byDay.totalMicros === 0n) return <p class="mute">{NOTHING_SPENT}</p>
        return (
          <figure>
            <DayBars of={byDay} />
            <figcaption>
              {formatMicros(byDay.totalMicros)} in {DAYS} days
            </figcaption>
          </figure>
        )
      }}
    </Answered>
  )
}
