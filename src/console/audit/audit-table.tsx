import { useNames } from '../parts/names.js'
import { Table } from '../parts/table.js'
import { Ago } from '../parts/times.js'
import { TransactionLink } from '../parts/transaction-link.js'
import type { AuditEntry } from './audit-entry.js'

/** Entries of the audit trail. A refusal shows its reason, and every entry can be unfolded. */
export function AuditTable(shown: {
  readonly caption: string
  readonly rows: readonly AuditEntry[]
}) {
  const { keyName } = useNames()
  return (
    <Table
      caption={shown.caption}
      rows={shown.rows}
      keyOf={({ audit_id }) => audit_id}
      columns={[
        { title: 'When', cell: ({ at }) => <Ago at={at} /> },
        {
          title: 'What',
          cell: ({ type, message }) => (
            <div>
              {type}
              {message !== null && <p class="small mute">{message}</p>}
            </div>
          ),
        },
        { title: 'Agent', cell: ({ key_id }) => (key_id === null ? '' : keyName(key_id)) },
        {
          title: 'Transaction',
          cell: ({ tx_id }) => (tx_id === null ? '' : <TransactionLink txId={tx_id} />),
        },
        { title: 'Details', cell: (entry) => <Details of={entry} /> },
      ]}
    />
  )
}

function Details({ of: entry }: { readonly of: AuditEntry }) {
  const { audit_id, at, request_id, sub_wallet_id, key_id, tx_id, details } = entry
  const all = { audit_id, at, request_id, sub_wallet_id, key_id, tx_id, ...details }
  return (
    <details>
      <summary aria-label={`All of it, ${audit_id}`}>All of it</summary>
      <pre class="unfolded">{JSON.stringify(all, null, 2)}</pre>
    </details>
  )
}
