import { Link } from 'wouter-preact'
import { Card } from '../parts/page.js'
import { Empty } from '../parts/states.js'
import { StatusPill } from '../parts/status-pill.js'
import { Ago } from '../parts/times.js'
import { describeAttempt } from '../webhooks/attempt-words.js'
import { EventBody } from '../webhooks/event-body.js'
import type { Detail } from './detail.js'

/** Its events and their deliveries. */
export function Told({ tx: { events, status } }: { readonly tx: Detail }) {
  return (
    <Card title="Events and deliveries">
      {events.length === 0 ? (
        <Empty title={status === 'refused' ? 'None, because nothing was signed' : 'No event yet'} />
      ) : (
        <ul class="rows">
          {events.map(({ event_id, seq, type, timestamp, deliveries }) => (
            <li key={event_id}>
              <span>
                {type}
                {deliveries.length === 0 && <span class="mute"> to nobody</span>}
              </span>
              <Ago at={timestamp} />
              <EventBody seq={seq} />
              {deliveries.map(({ webhook_id, url, status, attempts }) => (
                <div key={webhook_id} class="delivery small">
                  <StatusPill status={status} />
                  <Link href={`/webhooks/${encodeURIComponent(webhook_id)}`}>{url}</Link>
                  <span class="mute">{attempts.map(describeAttempt).at(-1)}</span>
                </div>
              ))}
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}
