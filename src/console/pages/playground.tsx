import { useQuery } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { useSearchParams } from 'wouter-preact'
import { readOpenApi } from '../api.js'
import { KeySecret } from '../parts/key-secret.js'
import { Card, Page } from '../parts/page.js'
import { Answered } from '../parts/states.js'
import { documentedOperations } from '../playground/documented.js'
import { Run } from '../playground/run.js'

/** Runs any agent operation with a key in this page's memory: `?operation=` selects it. */
export function PlaygroundPage() {
  const [secret, setSecret] = useState<string | null>(null)
  const [query, setQuery] = useSearchParams()
  const document = useQuery({
    queryKey: ['/openapi.json'],
    queryFn: async () => documentedOperations(await readOpenApi()),
    staleTime: 'static',
    refetchInterval: false,
  })
  return (
    <Page title="Playground">
      <div class="stack">
        {secret === null ? (
          <Card title="API key">
            <KeySecret onGiven={setSecret}>
              Calls from this page are real, within the caps and the policy of this key.
            </KeySecret>
          </Card>
        ) : (
          <div class="actions">
            <span>
              Calling with <code>{secret.slice(0, SHOWN_CHARS)}…</code>
            </span>
            <button type="button" onClick={() => setSecret(null)}>
              Forget the key
            </button>
          </div>
        )}
        <Answered query={document} what="operations">
          {(operations) => {
            const asked = query.get('operation')
            const operation = operations.find(({ name }) => name === asked) ?? operations[0]
            if (operation === undefined) return null
            return (
              <>
                <label class="narrow">
                  Operation
                  <select
                    value={operation.name}
                    onChange={(event) => setQuery({ operation: event.currentTarget.value })}
                  >
                    {operations.map(({ name, title }) => (
                      <option key={name} value={name}>
                        {title} ({name})
                      </option>
                    ))}
                  </select>
                </label>
                <Run key={operation.name} of={operation} secret={secret} />
              </>
            )
          }}
        </Answered>
      </div>
    </Page>
  )
}

/** As long as in the lists of keys. */
const SHOWN_CHARS = 12
