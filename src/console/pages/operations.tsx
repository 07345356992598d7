import {
  type ChainHealth,
  chainsOf,
  type Part,
  partsOf,
  TONES,
  wordsOf,
} from '../operations/health.js'
import { ServiceCards } from '../operations/service-cards.js'
import { chainName } from '../parts/chain-names.js'
import { Card, Page } from '../parts/page.js'
import { Answered, Empty } from '../parts/states.js'
import { StatusPill } from '../parts/status-pill.js'
import { Table } from '../parts/table.js'
import { useReadiness } from '../queries.js'

/** The health of the service by part, which is public, and figures for people who are signed in. */
export function OperationsPage() {
  const readiness = useReadiness()
  return (
    <Page title="Operations">
      <div class="stack">
        <Answered query={readiness} what="health">
          {({ status, draining, parts }) => {
            const all = partsOf(parts)
            const chains = chainsOf(all)
            return (
              <>
                <p role="status">
                  <StatusPill
                    status={status === 'ready' ? 'Accepting writes' : 'Not accepting writes'}
                    tone={status === 'ready' ? 'ok' : 'bad'}
                  />
                  {draining === true && ' It is shutting down.'}
                </p>
                <Card title="Parts">
                  <Table<readonly [string, Part]>
                    caption="Parts"
                    rows={Object.entries(all)}
                    keyOf={([name]) => name}
                    columns={[
                      { title: 'Part', cell: ([name]) => name.replaceAll('_', ' ') },
                      {
                        title: 'Status',
                        cell: ([, { status }]) => (
                          <StatusPill status={status} tone={TONES[status] ?? 'bad'} />
                        ),
                      },
                      { title: 'Says', cell: ([, part]) => wordsOf(part) },
                    ]}
                  />
                </Card>
                <Card title="Chains">
                  {chains.length === 0 ? (
                    <Empty title="No chains are reported" />
                  ) : (
                    <Table<ChainHealth>
                      caption="Chains"
                      rows={chains}
                      keyOf={({ chainId }) => String(chainId)}
                      columns={[
                        { title: 'Chain', cell: ({ chainId }) => chainName(chainId) },
                        {
                          title: 'Status',
                          cell: ({ status }) => <StatusPill status={status} />,
                        },
                        { title: 'Newest block', cell: ({ head }) => head, align: 'end' },
                        {
                          title: 'Seen',
                          cell: ({ headAgeSeconds }) =>
                            headAgeSeconds === null ? 'never' : `${headAgeSeconds} s ago`,
                          align: 'end',
                        },
                        { title: 'Why', cell: ({ reason }) => reason },
                      ]}
                    />
                  )}
                </Card>
              </>
            )
          }}
        </Answered>
        <ServiceCards />
      </div>
    </Page>
  )
}
