import { useEffect, useMemo, useState } from 'preact/hooks'
import { call } from '../api.js'
import type { Key } from '../keys/key.js'
import { AskedToConfirm, type LeftAuthorization, useConfirmed } from '../parts/confirmed-action.js'
import { Card } from '../parts/page.js'
import { Empty, Problem } from '../parts/states.js'
import { Backtest } from './backtest.js'
import { PolicyDifference } from './difference.js'
import { type JsonObject, readDraft, writeDraft } from './draft.js'
import { Faults } from './faults.js'
import { PolicyForm } from './policy-form.js'
import { differences } from './rules-compared.js'
import { TryCall } from './try-call.js'
import { useFaults } from './use-verdicts.js'
import { asPolicy } from './wire.js'

/** Pause after which typing counts as finished. */
const PAUSE_MS = 700
const FIRST: JsonObject = { rules: [], default: 'allow' }

/** Two views of one text; the saved text is kept for comparison. */
export function PolicyEditor({ of: key }: { readonly of: Key }) {
  const saved = (key.policy ?? null) as JsonObject | null
  const [text, setText] = useState(() => writeDraft(saved))
  const [view, setView] = useState<'form' | 'json'>('form')
  const draft = useMemo(() => readDraft(text), [text])
  const value = draft.ok ? draft.value : null
  const isPaused = usePause(text)
  const faults = useFaults(key.key_id, value, draft.ok && isPaused)
  const isValid = draft.ok && (value === null || faults.data === true)
  const set = (next: JsonObject | null) => setText(writeDraft(next))
  return (
    <div class="stack">
      <fieldset class="actions">
        <legend class="hidden">View</legend>
        {(['form', 'json'] as const).map((one) => (
          <button key={one} type="button" aria-pressed={view === one} onClick={() => setView(one)}>
            {one === 'form' ? 'Form' : 'JSON'}
          </button>
        ))}
        {draft.ok && value !== null && (
          <button type="button" class="danger-quiet" onClick={() => set(null)}>
            Without a policy
          </button>
        )}
      </fieldset>
      {view === 'json' ? (
        <label>
          The policy as JSON
          <textarea
            class="json"
            rows={24}
            spellcheck={false}
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </label>
      ) : !draft.ok ? (
        <Empty title="The JSON cannot be read">
          <p>Correct it in the other view.</p>
        </Empty>
      ) : value === null ? (
        <Card title="No policy">
          <p>Any call within the caps is allowed.</p>
          <div class="actions">
            <button type="button" onClick={() => set(FIRST)}>
              Start a policy
            </button>
          </div>
        </Card>
      ) : (
        <PolicyForm value={value} onChange={set} />
      )}
      {!draft.ok && <Problem error={draft.problem} />}
      {draft.ok && faults.error !== null && <Faults error={faults.error} />}
      {draft.ok && (
        <>
          <PolicyDifference keyId={key.key_id} before={saved} after={value} />
          <SavePolicy
            of={key}
            policy={value}
            before={saved}
            isValid={isValid}
            onSaved={(policy) => setText((now) => (says(now, policy) ? writeDraft(policy) : now))}
          />
          <div class="grid">
            <TryCall keyId={key.key_id} policy={value} />
            <Backtest keyId={key.key_id} policy={value} />
          </div>
        </>
      )}
    </div>
  )
}

function SavePolicy(shown: {
  readonly of: Key
  readonly policy: JsonObject | null
  readonly before: JsonObject | null
  readonly isValid: boolean
  /** In canonical form. */
  readonly onSaved: (policy: JsonObject | null) => void
}) {
  const { of: key, policy, before, isValid } = shown
  const [isDone, done] = useState(false)
  const confirmed = useConfirmed(
    (submission: JsonObject | null, authorization: LeftAuthorization | null) =>
      call('PATCH', '/api/v1/agent/keys/:key_id', {
        key_id: key.key_id,
        policy: asPolicy(submission),
        ...(authorization === null ? {} : { authorization }),
      }),
    (answer) => {
      done(true)
      shown.onSaved((answer.policy ?? null) as JsonObject | null)
    },
  )
  const isChanged = differences(before, policy).length > 0
  return (
    <section class="save" aria-label="Save">
      {confirmed.error !== null && <Faults error={confirmed.error} />}
      {confirmed.asked !== null && (
        <>
          <AskedToConfirm asked={confirmed.asked} />
          {differences(confirmed.asked.submission, policy).length > 0 && (
            <p role="status">Changes that you made after saving are not included.</p>
          )}
        </>
      )}
      {isDone && !isChanged && <p role="status">Saved. It applies from now on.</p>}
      {confirmed.asked === null && (
        <div class="actions">
          <button
            type="button"
            class="primary"
            disabled={!isChanged || !isValid || confirmed.isRunning}
            onClick={() => confirmed.run(policy)}
          >
            {confirmed.isRunning ? 'Saving…' : 'Save the policy'}
          </button>
          <span class="small mute">
            Changes that allow more must be confirmed with your passkey; changes that allow less
            apply at once.
          </span>
        </div>
      )}
    </section>
  )
}

/** Text typed during the confirmation is kept. */
function says(text: string, policy: JsonObject | null): boolean {
  const draft = readDraft(text)
  return draft.ok && differences(draft.value, policy).length === 0
}

function usePause(text: string): boolean {
  const [paused, setPaused] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return paused === text
}
