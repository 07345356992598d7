import { Link } from 'wouter-preact'
import { chainsOf, partsOf, TONES } from '../operations/health.js'
import { BreakersCard } from '../overview/breakers-card.js'
import { GasWalletsCard } from '../overview/gas-wallets-card.js'
import { InFlightCard } from '../overview/in-flight-card.js'
import { SpendCard } from '../overview/spend-card.js'
import { SpendChart } from '../overview/spend-chart.js'
import { chainName } from '../parts/chain-names.js'
import { formatUsd } from '../parts/money.js'
import { Card, Page } from '../parts/page.js'
import { Answered, Empty } from '../parts/states.js'
import { StatusPill } from '../parts/status-pill.js'
import { Ago, Left } from '../parts/times.js'
import { TransactionTable } from '../parts/transaction-table.js'
import { useApprovals, useKeys, useReadiness, useRefusals, useTransactions } from '../queries.js'

const LATEST_ROWS = 8

export function OverviewPage() {
  return (
    <Page title="Overview">
      <div class="grid">
        <SpendCard />
        <div class="stack">
          <WaitingCard />
          <SpendChart />
          <RefusalsCard />
          <HealthCard />
          <GasWalletsCard />
          <BreakersCard />
        </div>
        <div class="wide stack">
          <InFlightCard />
          <LatestCard />
        </div>
      </div>
    </Page>
  )
}

function WaitingCard() {
  const approvals = useApprovals({ status: 'pending' })
  const keys = useKeys()
  const names = new Map(keys.data?.keys.map(({ key_id, name }) => [key_id, name]))
  return (
    <Card title="Waiting for you" actions={<Link href="/approvals">All approvals</Link>}>
      <Answered query={approvals} what="approvals">
        {({ pages }) => {
          const waiting = pages.flatMap((page) => page.approvals)
          if (waiting.length === 0) {
            const words = approvals.hasNextPage
              ? 'None of the newest calls waits'
              : 'Nothing waits for approval'
            return <Empty title={words} />
          }
          return (
            <ul class="rows">
              {waiting.map(({ approval_id, key_id, rule, spend_usd, expires_at }) => (
                <li key={approval_id}>
                  <span>
                    <Link href="/approvals">{formatUsd(spend_usd)}</Link>{' '}
                    {names.get(key_id) ?? key_id} <span class="mute">({rule})</span>
                  </span>
                  <span class="mute">
                    <Left until={expires_at} /> left
                  </span>
                </li>
              ))}
            </ul>
          )
        }}
      </Answered>
    </Card>
  )
}

function RefusalsCard() {
  const refusals = useRefusals()
  return (
    <Card
      title="Refused, last 24 hours"
      actions={<Link href="/transactions?status=refused">Each of them</Link>}
    >
      <Answered query={refusals} what="refusals">
        {({ reasons, since, counted_since }) => (
          <>
            {reasons.length === 0 ? (
              <Empty title="Nothing was refused" />
            ) : (
              <ul class="rows">
                {reasons.map(({ code, message, count, last_at }) => (
                  <li key={code}>
                    <span>
                      <strong>{count}</strong> {message}
                    </span>
                    <span class="mute">
                      <Ago at={last_at} />
                    </span>
                  </li>
                ))}
              </ul>
            )}
            {counted_since !== since && (
              <p class="small mute">
                Counted back to <Ago at={counted_since} />; before that there is more.
              </p>
            )}
          </>
        )}
      </Answered>
    </Card>
  )
}

function LatestCard() {
  const transactions = useTransactions()
  return (
    <Card title="Latest transactions" actions={<Link href="/transactions">All of them</Link>}>
      <Answered query={transactions} what="transactions">
        {({ pages }) => {
          const rows = pages.flatMap((page) => page.transactions)
          if (rows.length === 0) return <Empty title="Nothing has been sent yet" />
          return <TransactionTable rows={rows.slice(0, LATEST_ROWS)} />
        }}
      </Answered>
    </Card>
  )
}

function HealthCard() {
  const readiness = useReadiness()
  return (
    <Card title="Health" actions={<Link href="/operations">Operations</Link>}>
      <Answered query={readiness} what="health">
        {({ parts }) => {
          const named = partsOf(parts)
          const all = Object.entries(named)
          const troubled = all.filter(([, { status }]) => status !== 'up')
          return (
            <>
              <ul class="chips">
                {all.map(([name, { status }]) => (
                  <li key={name}>
                    <StatusPill status={`${name}: ${status}`} tone={TONES[status] ?? 'bad'} />
                  </li>
                ))}
              </ul>
              <ul class="chips" aria-label="Chains">
                {chainsOf(named).map(({ chainId, status }) => (
                  <li key={chainId}>
                    <StatusPill status={chainName(chainId)} tone={TONES[status] ?? 'bad'} />
                    <span class="hidden">{status}</span>
                  </li>
                ))}
              </ul>
              {troubled.map(([name, { reason }]) => (
                <p key={name} class="small">
                  {name.replaceAll('_', ' ')}: {reason}
                </p>
              ))}
            </>
          )
        }}
      </Answered>
    </Card>
  )
}
