import { Link, useParams } from 'wouter-preact'
import { Page } from '../parts/page.js'
import { Answered, Empty } from '../parts/states.js'
import { PolicyEditor } from '../policy/policy-editor.js'
import { useKey } from '../queries.js'

/** The policy of one key. */
export function PolicyPage() {
  const { id = '' } = useParams()
  const found = useKey(id)
  const key = found.data?.keys[0]
  return (
    <Page
      title={key === undefined ? 'Policy' : `Policy of ${key.name}`}
      actions={<Link href="/keys">All keys</Link>}
    >
      <Answered query={found} what="the key">
        {({ keys: [one] }) =>
          one === undefined ? (
            <Empty title="This key does not exist" />
          ) : (
            <PolicyEditor key={one.key_id} of={one} />
          )
        }
      </Answered>
    </Page>
  )
}
