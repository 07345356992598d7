import { Link } from 'wouter-preact'
import type { Output } from '../api.js'
import { chainName } from './chain-names.js'
import { Id } from './copy-button.js'
import { formatUsd } from './money.js'
import { StatusPill } from './status-pill.js'
import { type Column, Table } from './table.js'
import { Ago } from './times.js'
import { transactionPath } from './transaction-link.js'

export type Transaction = Output<'GET', '/api/v1/agent/transactions'>['transactions'][number]

const COLUMNS: readonly Column<Transaction>[] = [
  { title: 'When', cell: ({ created_at }) => <Ago at={created_at} /> },
  {
    title: 'What',
    cell: ({ kind, tx_id }) => (
      <Link href={transactionPath(tx_id)} aria-label={`${kind.replaceAll('_', ' ')}, ${tx_id}`}>
        {kind.replaceAll('_', ' ')}
      </Link>
    ),
  },
  { title: 'Chain', cell: ({ chain_id }) => chainName(chain_id) },
  { title: 'To', cell: ({ to }) => <Id value={to} label="Copy the address" /> },
  { title: 'Spend', cell: ({ spend_usd }) => formatUsd(spend_usd), align: 'end' },
  { title: 'Status', cell: ({ status }) => <StatusPill status={status} /> },
]

export function TransactionTable({ rows }: { readonly rows: readonly Transaction[] }) {
  return <Table caption="Transactions" columns={COLUMNS} rows={rows} keyOf={({ tx_id }) => tx_id} />
}
