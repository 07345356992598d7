import { Link, useParams } from 'wouter-preact'
import { Page } from '../parts/page.js'
import { Answered, Empty } from '../parts/states.js'
import { PolicyEditor } from '../policy/policy-editor.js'
import { useKeys } from '../queries.js'

/** What one key may do with single calls. */
export function PolicyPage() {
  const { id } = useParams()
  const keys = useKeys()
  const key = keys.data?.keys.find(({ key_id }) => key_id === id)
  return (
    <Page
      title={key === undefined ? 'Policy' : `Policy of ${key.name}`}
      actions={<Link href="/keys">All keys</Link>}
    >
      <Answered query={keys} what="the key">
        {() =>
          key === undefined ? (
            <Empty title="There is no such key among your newest 100" />
          ) : (
            <PolicyEditor key={key.key_id} of={key} />
          )
        }
      </Answered>
    </Page>
  )
}
