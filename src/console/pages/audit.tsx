import { AuditTable } from '../audit/audit-table.js'
import { AUDIT_TYPES } from '../audit/audit-types.js'
import { ExportButton } from '../audit/export-button.js'
import { type AuditFilter, useAudit } from '../audit/use-audit.js'
import { VerifyCard } from '../audit/verify-card.js'
import { FilterChoices, type Filters, useFilters } from '../parts/filters.js'
import { More } from '../parts/more.js'
import { useNames } from '../parts/names.js'
import { Page } from '../parts/page.js'
import { Answered, Empty } from '../parts/states.js'

const NARROWED_BY = ['type', 'key_id', 'sub_wallet_id', 'tx_id'] as const

/** The audit trail: who did what, and what the service decided, newest first. */
export function AuditPage() {
  const filters = useFilters(NARROWED_BY)
  const filter = filterOf(filters)
  const audit = useAudit(filter)
  const { keyChoice, walletChoice } = useNames()
  const type = {
    ...{ name: 'type', label: 'What' },
    options: AUDIT_TYPES.map((one) => [one, one] as const),
  }
  return (
    <Page title="Audit" actions={<ExportButton filter={filter} />}>
      <FilterChoices filters={filters} choices={[type, keyChoice, walletChoice]} />
      <Answered query={audit} what="the audit trail">
        {({ pages }) => {
          const rows = pages.flatMap((page) => page.records)
          if (rows.length === 0 && !audit.hasNextPage) {
            return (
              <Empty
                title={filters.isNarrowed ? 'No matching entries' : 'Nothing has happened yet'}
              />
            )
          }
          return (
            <>
              <AuditTable caption="Audit trail" rows={rows} />
              <More query={audit} />
            </>
          )
        }}
      </Answered>
      <div class="after">
        <VerifyCard />
      </div>
    </Page>
  )
}

/** The service reports what is wrong with an address that was typed by hand. */
function filterOf({ get }: Filters): AuditFilter {
  const set = NARROWED_BY.map((name) => [name, get(name)] as const)
  return Object.fromEntries(set.filter(([, value]) => value !== null))
}
