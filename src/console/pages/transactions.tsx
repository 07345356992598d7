import { Link } from 'wouter-preact'
import type { Input } from '../api.js'
import { AuditTable } from '../audit/audit-table.js'
import { type AuditFilter, useAudit } from '../audit/use-audit.js'
import { CHAIN_IDS, chainName } from '../parts/chain-names.js'
import { FilterChoices, type Filters, useFilters } from '../parts/filters.js'
import { More } from '../parts/more.js'
import { useNames } from '../parts/names.js'
import { Page } from '../parts/page.js'
import { Answered, Empty } from '../parts/states.js'
import { transactionPath } from '../parts/transaction-link.js'
import { TransactionTable } from '../parts/transaction-table.js'
import { useTransactions } from '../queries.js'
import { SearchForm } from '../transactions/search-form.js'

type Filter = Omit<Input<'GET', '/api/v1/agent/transactions'>, 'limit' | 'cursor'>

/** A refused call never became a transaction; it is in the audit trail. */
const REFUSED = 'refused'
const STATUSES: readonly (NonNullable<Filter['status']> | typeof REFUSED)[] = [
  ...(['awaiting_approval', 'signed', 'broadcast', 'confirmed', 'failed', 'dropped'] as const),
  ...(['declined', 'expired', 'withdrawn', REFUSED] as const),
]
const KINDS: readonly NonNullable<Filter['kind']>[] = [
  ...(['send', 'swap', 'defi_deposit', 'defi_withdraw', 'gas_swap'] as const),
]
const OF_ALL = ['status', 'key_id', 'sub_wallet_id']
const OF_TRANSACTIONS = [...OF_ALL, 'kind', 'chain_id', 'search']

/** Everything that was sent or refused, filtered by the page's address. */
export function TransactionsPage() {
  const filters = useFilters(OF_TRANSACTIONS)
  const { keyChoice, walletChoice } = useNames()
  const isRefused = filters.get('status') === REFUSED
  const status = { name: 'status', label: 'Status', options: STATUSES.map(worded) }
  const kind = { name: 'kind', label: 'What', options: KINDS.map(worded) }
  const chain = {
    ...{ name: 'chain_id', label: 'Chain' },
    options: CHAIN_IDS.map((id) => [String(id), chainName(id)] as const),
  }
  return (
    <Page title="Transactions">
      {!isRefused && (
        <SearchForm
          value={filters.get('search') ?? ''}
          onSearch={(value) => filters.set('search', value)}
        />
      )}
      <FilterChoices
        filters={filters}
        choices={[status, keyChoice, walletChoice, ...(isRefused ? [] : [kind, chain])]}
      />
      {isRefused ? <Refused filters={filters} /> : <Sent filters={filters} />}
    </Page>
  )
}

function Sent({ filters }: { readonly filters: Filters }) {
  const transactions = useTransactions(filterOf(filters))
  const search = filters.get('search') ?? ''
  return (
    <Answered query={transactions} what="transactions">
      {({ pages }) => {
        const rows = pages.flatMap((page) => page.transactions)
        if (rows.length === 0 && !transactions.hasNextPage) {
          return filters.isNarrowed ? (
            <Empty title="No matching transactions">
              {search.startsWith('tx_') && (
                <p>
                  <Link href={transactionPath(search)}>Check whether it was refused</Link>
                </p>
              )}
              <Link href="/transactions">Show all</Link>
            </Empty>
          ) : (
            <Empty title="Nothing has been sent yet" />
          )
        }
        return (
          <>
            <TransactionTable rows={rows} />
            <More query={transactions} />
          </>
        )
      }}
    </Answered>
  )
}

function Refused({ filters }: { readonly filters: Filters }) {
  const refused = useAudit({ type: 'send.refused', ...ownerOf(filters) })
  return (
    <Answered query={refused} what="what was refused">
      {({ pages }) => {
        const rows = pages.flatMap((page) => page.records)
        if (rows.length === 0 && !refused.hasNextPage) return <Empty title="Nothing was refused" />
        return (
          <>
            <AuditTable caption="Refused sends" rows={rows} />
            <More query={refused} />
          </>
        )
      }}
    </Answered>
  )
}

function worded(name: string): readonly [string, string] {
  return [name, name.replaceAll('_', ' ')]
}

function ownerOf({ get }: Filters): Pick<AuditFilter, 'key_id' | 'sub_wallet_id'> {
  const [key_id, sub_wallet_id] = [get('key_id'), get('sub_wallet_id')]
  return {
    ...(key_id === null ? {} : { key_id }),
    ...(sub_wallet_id === null ? {} : { sub_wallet_id }),
  }
}

/** The service reports what is wrong with an address that was typed by hand. */
function filterOf(filters: Filters): Filter {
  const { get } = filters
  const [status, kind, search] = [get('status'), get('kind'), get('search')]
  const chainId = get('chain_id')
  return {
    ...ownerOf(filters),
    ...(status === null ? {} : { status: status as NonNullable<Filter['status']> }),
    ...(kind === null ? {} : { kind: kind as NonNullable<Filter['kind']> }),
    ...(chainId === null ? {} : { chain_id: Number(chainId) }),
    ...(search === null ? {} : { search }),
  }
}
