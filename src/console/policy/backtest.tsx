import { useState } from 'preact/hooks'
import { call, type Output } from '../api.js'
import { Card } from '../parts/page.js'
import { Empty } from '../parts/states.js'
import { Table } from '../parts/table.js'
import { Ago } from '../parts/times.js'
import { TransactionLink } from '../parts/transaction-link.js'
import { useQuestion } from '../use-action.js'
import type { JsonObject } from './draft.js'
import { Faults } from './faults.js'
import { EffectPill } from './try-call.js'
import { asPolicy } from './wire.js'

const DAYS = 30
const DAY_MS = 86_400_000
const ROWS_MAX = 50

type Result = Output<'POST', '/api/v1/agent/keys/:key_id/backtest'>
type Denied = NonNullable<Result['policy_denied']>[number]

/** Shows which past sends the draft would have refused. */
export function Backtest(shown: { readonly keyId: string; readonly policy: JsonObject | null }) {
  const { keyId, policy } = shown
  const [result, setResult] = useState<{ of: JsonObject | null; answer: Result } | null>(null)
  const run = useQuestion(
    () =>
      call('POST', '/api/v1/agent/keys/:key_id/backtest', {
        key_id: keyId,
        policy: asPolicy(policy),
      }).then((answer) => ({ of: policy, answer })),
    setResult,
  )
  return (
    <Card
      title={`Last ${DAYS} days`}
      actions={
        <button type="button" disabled={run.isRunning} onClick={run.run}>
          {run.isRunning ? 'Replaying…' : 'Replay past sends'}
        </button>
      }
    >
      <p class="small mute">Judges past sends by this policy, with everything that it counts.</p>
      {run.error !== null && <Faults error={run.error} />}
      {result !== null && result.of === policy && <Replayed of={result.answer} />}
    </Card>
  )
}

function Replayed({ of: { checked, policy_denied: all = [] } }: { readonly of: Result }) {
  const since = Date.now() - DAYS * DAY_MS
  const recent = all.filter(({ created_at }) => Date.parse(created_at) >= since).reverse()
  const earlier = all.length - recent.length
  return (
    <div role="status" class="stack">
      <p class="small">
        {checked === 0 ? 'Nothing was sent yet' : `Of ${checked} sends on record`}
        {checked > 0 && ` it would have stopped ${recent.length} in the last ${DAYS} days`}
        {earlier > 0 && `, and ${earlier} before`}.
      </p>
      {recent.length === 0 ? (
        checked > 0 && <Empty title="All of them would have been allowed" />
      ) : (
        <Table<Denied>
          caption="Sends that the policy would have stopped"
          rows={recent.slice(0, ROWS_MAX)}
          keyOf={({ tx_id }) => tx_id}
          columns={[
            { title: 'When', cell: ({ created_at }) => <Ago at={created_at} /> },
            { title: 'Send', cell: ({ tx_id }) => <TransactionLink txId={tx_id} /> },
            { title: 'Now', cell: ({ effect }) => <EffectPill effect={effect} /> },
            { title: 'Rule', cell: ({ rule }) => rule },
            {
              title: 'Why',
              cell: ({ field, observed, permitted }) => `${field}: ${observed}, not ${permitted}`,
            },
          ]}
        />
      )}
      {recent.length > ROWS_MAX && (
        <p class="small mute">These are the newest {ROWS_MAX} of them.</p>
      )}
    </div>
  )
}
