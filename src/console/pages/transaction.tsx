import { useQuery } from '@tanstack/preact-query'
import { Link, useParams } from 'wouter-preact'
import { call } from '../api.js'
import { ApprovalCard } from '../approvals/approval-card.js'
import { AuditTable } from '../audit/audit-table.js'
import { useNames } from '../parts/names.js'
import { Card, Page } from '../parts/page.js'
import { Answered } from '../parts/states.js'
import { BothKeys } from '../transactions/both-keys.js'
import { Cancel } from '../transactions/cancel.js'
import type { Detail } from '../transactions/detail.js'
import { Summary } from '../transactions/facts.js'
import { Screened } from '../transactions/screened.js'
import { Simulated } from '../transactions/simulated.js'
import { Timeline } from '../transactions/timeline.js'
import { Told } from '../transactions/told.js'
import { Valued } from '../transactions/valued.js'

/** Replacements, cancellations and confirmations have no events, so the page polls. */
const UNDER_WAY_POLL_MS = 2_000
/** Deliveries of its last event continue. */
const FINAL_POLL_MS = 10_000
const UNDER_WAY: readonly Detail['status'][] = ['awaiting_approval', 'signed', 'broadcast']

function pollMsOf(tx: Detail | undefined): number {
  return tx === undefined || UNDER_WAY.includes(tx.status) ? UNDER_WAY_POLL_MS : FINAL_POLL_MS
}

/** One transaction, or a refused call, with everything known about it. */
export function TransactionPage() {
  const { txId = '' } = useParams<{ txId: string }>()
  const transaction = useQuery({
    queryKey: ['/api/v1/agent/transactions', txId],
    queryFn: () => call('GET', '/api/v1/agent/transactions/:tx_id', { tx_id: txId }),
    refetchInterval: ({ state }) => pollMsOf(state.data),
  })
  return (
    <Page title="Transaction" actions={<Link href="/transactions">All transactions</Link>}>
      <Answered query={transaction} what="the transaction">
        {(tx) => <Whole tx={tx} />}
      </Answered>
    </Page>
  )
}

function Whole({ tx }: { readonly tx: Detail }) {
  const names = useNames()
  return (
    <div class="grid">
      <div class="stack">
        <Summary tx={tx} names={names} />
        <Simulated of={tx.simulation} />
      </div>
      <div class="stack">
        <Card title="What happened" actions={<Cancel tx={tx} />}>
          <Timeline of={tx.timeline} />
        </Card>
        <Screened tx={tx} />
      </div>
      <div class={tx.signatures.length > 0 ? 'wide' : undefined}>
        <BothKeys tx={tx} />
      </div>
      <Valued tx={tx} />
      {tx.approvals.map((approval) => (
        <ApprovalCard
          key={approval.approval_id}
          of={approval}
          keyName={names.keyName(approval.key_id)}
        />
      ))}
      <div class="wide">
        <Told tx={tx} />
      </div>
      <Card title="Audit trail">
        <AuditTable caption="Entries of this transaction" rows={tx.audit} />
      </Card>
    </div>
  )
}
