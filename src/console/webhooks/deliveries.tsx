import { call } from '../api.js'
import { More } from '../parts/more.js'
import { Card } from '../parts/page.js'
import { Answered, Empty, Problem } from '../parts/states.js'
import { StatusPill } from '../parts/status-pill.js'
import { Table } from '../parts/table.js'
import { Ago, At, Left } from '../parts/times.js'
import { useAction } from '../use-action.js'
import { type Delivery, describeAttempt } from './attempt-words.js'
import { EventBody } from './event-body.js'
import { useDeliveries } from './use-webhooks.js'

/** The deliveries to an endpoint, its answers, and redelivery. */
export function Deliveries({ webhookId }: { readonly webhookId: string }) {
  const deliveries = useDeliveries(webhookId)
  return (
    <Card title="Deliveries">
      <Answered query={deliveries} what="deliveries">
        {({ pages }) => {
          const rows = pages.flatMap((page) => page.deliveries)
          if (rows.length === 0) return <Empty title="Nothing has been sent there yet" />
          return (
            <>
              <Table
                caption="Deliveries, newest first"
                rows={rows}
                keyOf={({ event_id }) => event_id}
                columns={[
                  { title: 'When', cell: ({ created_at }) => <Ago at={created_at} /> },
                  {
                    title: 'Event',
                    cell: ({ type, event_id }) => <span class="num">{type ?? event_id}</span>,
                  },
                  { title: 'Status', cell: (one) => <State of={one} /> },
                  { title: 'Answers', cell: (one) => <Answers of={one} /> },
                  {
                    title: 'Sent',
                    cell: ({ seq }) => (seq === null ? '' : <EventBody seq={seq} />),
                  },
                  { title: 'Again', cell: (one) => <Redeliver of={one} webhookId={webhookId} /> },
                ]}
              />
              <More query={deliveries} />
            </>
          )
        }}
      </Answered>
    </Card>
  )
}

function State({ of: { status, next_try_at } }: { readonly of: Delivery }) {
  return (
    <div>
      <StatusPill status={status} />
      {next_try_at !== null && (
        <span class="line small mute">
          again in <Left until={next_try_at} />
        </span>
      )}
    </div>
  )
}

function Answers({ of: { attempts, attempt_count } }: { readonly of: Delivery }) {
  const last = attempts.at(-1)
  if (last === undefined) return <span class="mute">none yet</span>
  if (attempt_count === 1) return <>{describeAttempt(last)}</>
  return (
    <details>
      <summary>
        {attempt_count} attempts, last {describeAttempt(last)}
      </summary>
      <ol class="rows">
        {attempts.map((attempt) => (
          <li key={attempt.at}>
            <At at={attempt.at} /> <span>{describeAttempt(attempt)}</span>
          </li>
        ))}
      </ol>
    </details>
  )
}

function Redeliver(shown: { readonly of: Delivery; readonly webhookId: string }) {
  const { event_id } = shown.of
  const again = useAction(() =>
    call('POST', '/api/v1/agent/events/:event_id/redeliver', {
      event_id,
      webhook_id: shown.webhookId,
    }),
  )
  return (
    <>
      <button
        type="button"
        aria-label={`Redeliver ${event_id}`}
        disabled={again.isRunning}
        onClick={again.run}
      >
        Redeliver
      </button>
      {again.error !== null && <Problem error={again.error} />}
    </>
  )
}
