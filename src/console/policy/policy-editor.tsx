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

/** Typing has paused. */
const PAUSE_MS = 700
const FIRST: JsonObject = { rules: [], default: 'allow' }

/** Two views of one text; what was saved is the text to compare with. */
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
          <p>Mend it in the other view.</p>
        </Empty>
      ) : value === null ? (
        <Card title="No policy">
          <p>Any call goes through while the caps last.</p>
          <div class="actions">
            <button type="button" onClick={() => set(FIRST)}>
              Begin a policy
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
  /** In its canonical form. */
  readonly onSaved: (policy: JsonObject | null) => void
}) {
  const { of: key, policy, before, isValid } = shown
  const [isDone, done] = useState(false)
  const confirmed = useConfirmed(
    (wish: JsonObject | null, authorization: LeftAuthorization | null) =>
      call('PATCH', '/api/v1/agent/keys/:key_id', {
        key_id: key.key_id,
        policy: asPolicy(wish),
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
          {differences(confirmed.asked.wish, policy).length > 0 && (
            <p role="status">What you have changed since you saved is not part of it.</p>
          )}
        </>
      )}
      {isDone && !isChanged && <p role="status">Saved. It holds from now on.</p>}
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
            What lets more through is confirmed by your passkey; what lets less through holds at
            once.
          </span>
        </div>
      )}
    </section>
  )
}

/** What was typed on while it was confirmed stays. */
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
