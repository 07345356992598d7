import { useQuery } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { call } from '../api.js'
import { Answered } from '../parts/states.js'
import { TransactionLink } from '../parts/transaction-link.js'

/** The body of an event, read from the log on demand. */
export function EventBody({ seq }: { readonly seq: number }) {
  const [isOpen, open] = useState(false)
  return (
    <details onToggle={({ currentTarget }) => open(currentTarget.open)}>
      <summary aria-label={`Body of event ${seq}`}>Body</summary>
      {isOpen && <Body seq={seq} />}
    </details>
  )
}

function Body({ seq }: { readonly seq: number }) {
  const page = useQuery({
    queryKey: ['/api/v1/agent/events', seq],
    queryFn: () => call('GET', '/api/v1/agent/events', { after: seq - 1, limit: 1 }),
  })
  return (
    <Answered query={page} what="the event">
      {({ events: [event] }) =>
        event?.seq === seq ? (
          <>
            {typeof event.data.tx_id === 'string' && <TransactionLink txId={event.data.tx_id} />}
            <pre class="unfolded">
              {JSON.stringify(
                { type: event.type, timestamp: event.timestamp, data: event.data },
                null,
                2,
              )}
            </pre>
          </>
        ) : (
          <p class="small mute">This event is no longer stored.</p>
        )
      }
    </Answered>
  )
}
