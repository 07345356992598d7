import { useState } from 'preact/hooks'
import { noAnswer } from '../answers.js'
import { Snippet } from '../parts/copy-button.js'
import { Card } from '../parts/page.js'
import { Problem } from '../parts/states.js'
import { StatusPill } from '../parts/status-pill.js'
import { useAction } from '../use-action.js'
import type { DocumentedOperation } from './documented.js'
import { inputOf } from './documented.js'
import { OperationForm } from './operation-form.js'
import { type PlannedRequest, plannedRequest } from './request.js'
import { snippetsOf } from './snippets.js'

const TIMEOUT_MS = 30_000

interface Answer {
  readonly status: number
  readonly tookMs: number
  readonly text: string
}

/** One operation: its input, the call in three languages, and its answer. */
export function Run(shown: { readonly of: DocumentedOperation; readonly secret: string | null }) {
  const { of: operation, secret } = shown
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({})
  // The same key pays once, however often it is run.
  const [idempotencyKey, setIdempotencyKey] = useState<string>(() => crypto.randomUUID())
  const [fault, setFault] = useState('')
  const [answer, setAnswer] = useState<Answer | null>(null)
  const input = inputOf(operation.fields, typed)
  const request = plannedRequest(operation, input, idempotencyKey, fault)
  const run = useAction(() => send(request, secret ?? ''), setAnswer)
  return (
    <div class="grid">
      <Card title={operation.title}>
        <form
          onSubmit={(event) => {
            event.preventDefault()
            run.run()
          }}
        >
          <p class="small mute prose">{operation.description}</p>
          <OperationForm
            of={operation}
            typed={typed}
            onChange={(next) => {
              setTyped(next)
              setIdempotencyKey(crypto.randomUUID())
            }}
          />
          {secret?.startsWith('sk_test_') === true && operation.faults.length > 0 && (
            <FaultChoice
              faults={operation.faults}
              value={fault}
              onChange={(next) => {
                setFault(next)
                setIdempotencyKey(crypto.randomUUID())
              }}
            />
          )}
          <div class="actions">
            <button
              type="submit"
              class={operation.movesValue ? 'danger' : 'primary'}
              disabled={secret === null || run.isRunning}
            >
              {run.isRunning ? 'Running…' : operation.movesValue ? 'Run it, for real' : 'Run it'}
            </button>
            {secret === null && <span class="small mute">It takes a key, above.</span>}
          </div>
          {run.error !== null && <Problem error={run.error} />}
        </form>
      </Card>
      <div class="stack">
        {answer !== null && (
          <Card title="Answer">
            <div role="status" class="stack">
              <p>
                <StatusPill
                  status={String(answer.status)}
                  tone={answer.status < 400 ? 'ok' : 'bad'}
                />{' '}
                <span class="small mute">in {answer.tookMs} ms</span>
              </p>
              <Snippet title="JSON" text={answer.text} />
            </div>
          </Card>
        )}
        <Card title="The call">
          <div class="stack">
            {snippetsOf(operation, input, request, idempotencyKey, location.origin).map(
              ({ title, text }) => (
                <Snippet key={title} title={title} text={text} />
              ),
            )}
          </div>
        </Card>
      </div>
    </div>
  )
}

/** For keys of a test environment. */
function FaultChoice(shown: {
  readonly faults: readonly string[]
  readonly value: string
  readonly onChange: (fault: string) => void
}) {
  const { faults, value, onChange } = shown
  return (
    <div>
      <label for="fault">Fault to inject</label>
      <select
        id="fault"
        value={value}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      >
        <option value="">Nothing</option>
        {faults.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
    </div>
  )
}

async function send(request: PlannedRequest, secret: string): Promise<Answer> {
  const { method, path, headers, body } = request
  const beganAtMs = performance.now()
  const response = await fetch(path, {
    method,
    headers: { ...headers, 'X-Api-Key': secret },
    ...(body === null ? {} : { body }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch(noAnswer)
  const text = await response.text().catch(noAnswer)
  return {
    status: response.status,
    tookMs: Math.round(performance.now() - beganAtMs),
    text: prettified(text),
  }
}

function prettified(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
