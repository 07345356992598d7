import { useState } from 'preact/hooks'
import { call } from '../api.js'
import { chainName } from '../parts/chain-names.js'
import { Id } from '../parts/copy-button.js'
import { Card } from '../parts/page.js'
import { Empty } from '../parts/states.js'
import { Table } from '../parts/table.js'
import { useQuestion } from '../use-action.js'
import type { JsonObject } from './draft.js'
import { Faults } from './faults.js'
import { differences } from './rules-compared.js'
import { OPERATIONS, type TestedCall } from './tested-call.js'
import { EffectPill } from './try-call.js'
import { type Verdict, verdictsOf } from './use-verdicts.js'

interface Example {
  readonly call: TestedCall
  readonly before: Verdict
  readonly after: Verdict
}

/** Shows what changed, and recent calls of the key that would have another outcome. */
export function PolicyDifference(shown: {
  readonly keyId: string
  readonly before: JsonObject | null
  readonly after: JsonObject | null
}) {
  const { keyId, before, after } = shown
  const [found, setFound] = useState<{ of: unknown; judged: number; rows: Example[] } | null>(null)
  const search = useQuestion(
    () => examplesOf(keyId, after).then((answer) => ({ of: after, ...answer })),
    setFound,
  )
  const changes = differences(before, after)
  return (
    <Card
      title="Difference"
      actions={
        changes.length > 0 && (
          <button type="button" disabled={search.isRunning} onClick={search.run}>
            {search.isRunning ? 'Judging…' : 'Find examples'}
          </button>
        )
      }
    >
      {changes.length === 0 ? (
        <Empty title="Nothing is changed" />
      ) : (
        <ul class="changes">
          {changes.map(({ what, before: old, after: now }) => (
            <li key={what}>
              <strong>{what}</strong>
              {old !== null && <del>{old}</del>}
              {now !== null && <ins>{now}</ins>}
            </li>
          ))}
        </ul>
      )}
      {search.error !== null && <Faults error={search.error} />}
      {found !== null && found.of === after && <Examples judged={found.judged} rows={found.rows} />}
    </Card>
  )
}

function Examples({
  judged,
  rows,
}: {
  readonly judged: number
  readonly rows: readonly Example[]
}) {
  if (rows.length === 0) {
    const words =
      judged === 0
        ? 'This key has no past calls to use as examples'
        : `The outcome of its last ${judged} distinct calls would not change`
    return <Empty title={words} />
  }
  return (
    <div role="status">
      <p class="small">
        Of its last {judged} distinct calls, {rows.length} would now have another outcome.
      </p>
      <Table<Example>
        caption="Calls with another outcome"
        rows={rows}
        keyOf={({ call: { to, data, value, chain_id } }) => `${chain_id} ${to} ${value} ${data}`}
        columns={[
          { title: 'What', cell: ({ call: { operation } }) => operation.replaceAll('_', ' ') },
          { title: 'Chain', cell: ({ call: { chain_id } }) => chainName(chain_id) },
          { title: 'To', cell: ({ call: { to } }) => <Id value={to} label="Copy the address" /> },
          { title: 'Before', cell: ({ before }) => <EffectPill effect={before.effect} /> },
          { title: 'After', cell: ({ after }) => <EffectPill effect={after.effect} /> },
          { title: 'Rule', cell: ({ after: { rule } }) => rule ?? '' },
        ]}
      />
    </div>
  )
}

const EXAMPLES_MAX = 100

async function examplesOf(keyId: string, policy: JsonObject | null) {
  const { transactions } = await call('GET', '/api/v1/agent/transactions', {
    key_id: keyId,
    limit: EXAMPLES_MAX,
  })
  const calls = new Map<string, TestedCall>()
  for (const { kind, chain_id, to, data, value } of transactions) {
    if (!isOperation(kind)) continue
    calls.set([kind, chain_id, to, data, value].join(), {
      ...{ operation: kind, chain_id, to, data, value },
    })
  }
  const distinct = [...calls.values()]
  if (distinct.length === 0) return { judged: 0, rows: [] }
  const [old, now] = await Promise.all([
    verdictsOf(keyId, distinct, undefined),
    verdictsOf(keyId, distinct, policy),
  ])
  const rows = distinct.flatMap((one, index) => {
    const [before, after] = [old[index], now[index]]
    if (before === undefined || after === undefined || before.effect === after.effect) return []
    return [{ call: one, before, after }]
  })
  return { judged: distinct.length, rows }
}

function isOperation(kind: string): kind is TestedCall['operation'] {
  return OPERATIONS.some((one) => one === kind)
}
