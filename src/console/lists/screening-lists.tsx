import { Card } from '../parts/page.js'
import { Answered, Empty } from '../parts/states.js'
import { StatusPill } from '../parts/status-pill.js'
import { Table } from '../parts/table.js'
import { Ago } from '../parts/times.js'
import { useScreeningLists } from './use-lists.js'

/** The lists that every call is compared with, with their source, version and age. */
export function ScreeningLists() {
  const lists = useScreeningLists()
  return (
    <Card title="Screening lists">
      <Answered query={lists} what="the lists">
        {({ ready, reason, lists: rows }) => (
          <>
            {!ready && (
              <p class="problem">Nothing is sent until these lists are ready: {reason}.</p>
            )}
            {rows.length === 0 ? (
              <Empty title="No lists" />
            ) : (
              <Table
                caption="Screening lists"
                rows={rows}
                keyOf={({ list }) => list}
                columns={[
                  { title: 'List', cell: ({ list }) => list },
                  { title: 'Kind', cell: ({ kind }) => <span class="num">{kind}</span> },
                  { title: 'Source', cell: ({ source }) => source },
                  { title: 'Version', cell: ({ version }) => <code>{version}</code> },
                  { title: 'Entries', cell: ({ entries }) => String(entries), align: 'end' },
                  {
                    title: 'Checked',
                    cell: ({ checked_at }) =>
                      checked_at === null ? 'built in' : <Ago at={checked_at} />,
                  },
                  {
                    title: 'State',
                    cell: ({ stale }) => (
                      <StatusPill
                        status={stale ? 'stale' : 'current'}
                        tone={stale ? 'bad' : 'ok'}
                      />
                    ),
                  },
                ]}
              />
            )}
          </>
        )}
      </Answered>
    </Card>
  )
}
