import { Link, useParams } from 'wouter-preact'
import { Id } from '../parts/copy-button.js'
import { Fact } from '../parts/facts.js'
import { Card, Page } from '../parts/page.js'
import { Answered, Empty } from '../parts/states.js'
import { StatusPill } from '../parts/status-pill.js'
import { Ago } from '../parts/times.js'
import { ChangeWebhook } from '../webhooks/change-webhook.js'
import { Deliveries } from '../webhooks/deliveries.js'
import { useWebhooks, type Webhook } from '../webhooks/use-webhooks.js'
import { Remove, RotateSecret, SwitchOnOff, Test } from '../webhooks/webhook-actions.js'

/** One endpoint or channel, with its deliveries. */
export function WebhookPage() {
  const { webhookId = '' } = useParams<{ webhookId: string }>()
  const webhooks = useWebhooks()
  return (
    <Page title="Endpoint" actions={<Link href="/webhooks">All of them</Link>}>
      <Answered query={webhooks} what="the endpoint">
        {({ webhooks: all }) => {
          const one = all.find(({ webhook_id }) => webhook_id === webhookId)
          if (one === undefined)
            return <Empty title="This endpoint does not exist, or no longer exists" />
          return (
            <div class="stack">
              <Endpoint of={one} />
              <Deliveries webhookId={one.webhook_id} />
            </div>
          )
        }}
      </Answered>
    </Page>
  )
}

function Endpoint({ of: one }: { readonly of: Webhook }) {
  return (
    <Card title={one.url} actions={<StatusPill status={one.status} />}>
      <div class="stack">
        <dl class="facts">
          <Fact title="Kind">{one.kind}</Fact>
          {one.description !== null && <Fact title="Description">{one.description}</Fact>}
          <Fact title="Events">{one.events?.join(', ') ?? 'The usual ones'}</Fact>
          <Fact title="Made">
            <Ago at={one.created_at} />
          </Fact>
          <Fact title="Id">
            <Id value={one.webhook_id} label="Copy the endpoint's id" />
          </Fact>
        </dl>
        <div class="actions">
          <Test of={one} />
          <ChangeWebhook of={one} />
          <SwitchOnOff of={one} />
          {one.kind === 'webhook' && <RotateSecret of={one} />}
          <Remove of={one} />
        </div>
      </div>
    </Card>
  )
}
