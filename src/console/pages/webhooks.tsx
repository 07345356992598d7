import { Link } from 'wouter-preact'
import { Card, Page } from '../parts/page.js'
import { Answered, Empty } from '../parts/states.js'
import { StatusPill } from '../parts/status-pill.js'
import { Table } from '../parts/table.js'
import { Ago } from '../parts/times.js'
import { CreateWebhook } from '../webhooks/create-webhook.js'
import { useWebhooks, type Webhook } from '../webhooks/use-webhooks.js'
import { Test } from '../webhooks/webhook-actions.js'

/** Who receives events: programs, by signed deliveries; people, on alert channels. */
export function WebhooksPage() {
  const webhooks = useWebhooks()
  return (
    <Page title="Webhooks & alerts">
      <Answered query={webhooks} what="webhooks">
        {({ webhooks: all }) => (
          <div class="stack">
            <Card title="Endpoints" actions={<CreateWebhook of="endpoint" />}>
              <Endpoints
                caption="Endpoints"
                rows={all.filter(({ kind }) => kind === 'webhook')}
                none="No endpoint receives events"
              />
            </Card>
            <Card title="Alert channels" actions={<CreateWebhook of="channel" />}>
              <Endpoints
                caption="Alert channels"
                rows={all.filter(({ kind }) => kind !== 'webhook')}
                none="No channel receives alerts"
              />
            </Card>
          </div>
        )}
      </Answered>
    </Page>
  )
}

function Endpoints(shown: {
  readonly caption: string
  readonly rows: readonly Webhook[]
  readonly none: string
}) {
  if (shown.rows.length === 0) return <Empty title={shown.none} />
  return (
    <Table
      caption={shown.caption}
      rows={shown.rows}
      keyOf={({ webhook_id }) => webhook_id}
      columns={[
        {
          title: 'To',
          cell: ({ webhook_id, url, kind, description }) => (
            <div>
              <Link href={`/webhooks/${encodeURIComponent(webhook_id)}`}>{url}</Link>
              <span class="line small mute">
                {kind === 'webhook' ? description : `${kind} ${description ?? ''}`}
              </span>
            </div>
          ),
        },
        { title: 'Events', cell: ({ events }) => events?.join(', ') ?? 'the usual ones' },
        { title: 'Made', cell: ({ created_at }) => <Ago at={created_at} /> },
        { title: 'Status', cell: ({ status }) => <StatusPill status={status} /> },
        { title: 'Test', cell: (one) => <Test of={one} /> },
      ]}
    />
  )
}
