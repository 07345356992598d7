import { useQuery } from '@tanstack/preact-query'
import { call } from '../api.js'
import { HourBars } from '../overview/hour-bars.js'
import { clock, nothingSpent, spendByHour } from '../overview/spend-by-hour.js'
import { useInView } from '../parts/in-view.js'
import { formatMicros } from '../parts/money.js'
import { Answered } from '../parts/states.js'

const ROWS = 100

/** When one key's money went, by hour. A page has up to a hundred keys: it reads of those in sight. */
export function KeySparkline({ keyId }: { readonly keyId: string }) {
  const [ref, isInView] = useInView<HTMLDivElement>()
  return (
    <div class="sparkline" ref={ref}>
      {isInView && <Hours keyId={keyId} />}
    </div>
  )
}

function Hours({ keyId }: { readonly keyId: string }) {
  const sent = useQuery({
    // Not under the path that it reads: a busy fleet would have every card read with every event.
    queryKey: ['spend-of-key', keyId],
    queryFn: () => call('GET', '/api/v1/agent/transactions', { key_id: keyId, limit: ROWS }),
  })
  return (
    <Answered query={sent} what="spend">
      {({ transactions, next_cursor }) => {
        const spend = spendByHour(transactions, next_cursor !== null, Date.now())
        if (spend.totalMicros === 0n) {
          return <p class="mute">{nothingSpent(spend)}</p>
        }
        return (
          <figure>
            <HourBars of={spend} />
            <figcaption>{formatMicros(spend.totalMicros)} in 24 h</figcaption>
            {spend.sinceMs !== null && (
              <p class="mute wide-note">
                Of its newest {ROWS} transactions, which reach back to {clock(spend.sinceMs)}.
              </p>
            )}
          </figure>
        )
      }}
    </Answered>
  )
}
