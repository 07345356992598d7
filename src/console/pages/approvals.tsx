import { useSearchParams } from 'wouter-preact'
import { ApprovalCard } from '../approvals/approval-card.js'
import { More } from '../parts/more.js'
import { Page } from '../parts/page.js'
import { Answered, Empty } from '../parts/states.js'
import { useApprovals, useKeys } from '../queries.js'

const STATUSES = ['pending', 'approved', 'declined', 'expired', 'withdrawn'] as const
type Status = (typeof STATUSES)[number]

/** Calls that wait or waited for a person: `?status=` selects one kind, `all` every kind. */
export function ApprovalsPage() {
  const [query, setQuery] = useSearchParams()
  const asked = query.get('status') ?? 'pending'
  const status = STATUSES.find((one) => one === asked)
  const approvals = useApprovals(status === undefined ? {} : { status })
  const keys = useKeys()
  const names = new Map(keys.data?.keys.map(({ key_id, name }) => [key_id, name]))
  return (
    <Page
      title="Approvals"
      actions={
        <label class="inline">
          Show
          <select
            value={status ?? 'all'}
            onChange={(event) => setQuery({ status: event.currentTarget.value })}
          >
            {STATUSES.map((one) => (
              <option key={one} value={one}>
                {LABELS[one]}
              </option>
            ))}
            <option value="all">All</option>
          </select>
        </label>
      }
    >
      <Answered query={approvals} what="approvals">
        {({ pages }) => {
          const rows = pages.flatMap((page) => page.approvals)
          // A page may be empty although later pages have matching calls.
          if (rows.length === 0 && !approvals.hasNextPage) {
            return (
              <Empty title={status === 'pending' ? 'Nothing waits for you' : 'None'}>
                <p>Calls appear here when a key's policy requires approval.</p>
              </Empty>
            )
          }
          return (
            <>
              <div class="grid">
                {rows.map((approval) => (
                  <ApprovalCard
                    key={approval.approval_id}
                    of={approval}
                    keyName={names.get(approval.key_id) ?? approval.key_id}
                  />
                ))}
              </div>
              <More query={approvals} />
            </>
          )
        }}
      </Answered>
    </Page>
  )
}

const LABELS: Readonly<Record<Status, string>> = {
  pending: 'Waiting',
  approved: 'Approved',
  declined: 'Declined',
  expired: 'Expired',
  withdrawn: 'Withdrawn',
}
