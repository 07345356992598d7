import { Link } from 'wouter-preact'
import { Card } from '../parts/page.js'
import { Answered, Empty } from '../parts/states.js'
import { TransactionTable } from '../parts/transaction-table.js'
import { useTransactions } from '../queries.js'

/** The newest transactions that are signed or broadcast but not final. */
export function InFlightCard() {
  const signed = useTransactions({ status: 'signed' })
  const broadcast = useTransactions({ status: 'broadcast' })
  const hasMore = signed.hasNextPage || broadcast.hasNextPage
  return (
    <Card
      title="In flight"
      actions={<Link href="/transactions?status=broadcast">All broadcast transactions</Link>}
    >
      <Answered query={signed} what="what is signed">
        {(ofSigned) => (
          <Answered query={broadcast} what="what is broadcast">
            {(ofBroadcast) => {
              const pages = [...ofSigned.pages, ...ofBroadcast.pages]
              // A transaction may have moved on between the two reads; its later state is shown.
              const byId = new Map(pages.flatMap(({ transactions }) => transactions.map(withId)))
              const rows = [...byId.values()].sort(newestFirst)
              if (rows.length === 0) {
                return (
                  <Empty
                    title={hasMore ? 'None of the newest is in flight' : 'Nothing is in flight'}
                  />
                )
              }
              return (
                <>
                  <p class="small mute">
                    {rows.length}
                    {hasMore && ', and more'} in flight.
                  </p>
                  <TransactionTable rows={rows} />
                </>
              )
            }}
          </Answered>
        )}
      </Answered>
    </Card>
  )
}

interface Sent {
  readonly tx_id: string
  readonly created_at: string
}

function withId<T extends Sent>(sent: T): readonly [string, T] {
  return [sent.tx_id, sent]
}

function newestFirst(one: Sent, other: Sent): number {
  return Date.parse(other.created_at) - Date.parse(one.created_at)
}
