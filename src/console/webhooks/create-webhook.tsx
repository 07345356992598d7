import { useRef, useState } from 'preact/hooks'
import { call, type Input } from '../api.js'
import { newCreationKey } from '../parts/creation-key.js'
import { Dialog } from '../parts/dialog.js'
import { makeOnce } from '../parts/make-once.js'
import { StepDialog } from '../parts/step-dialog.js'
import { type Submissions, submissionsOf } from '../parts/submissions.js'
import { NOWHERE } from '../parts/unanswered.js'
import { useAction } from '../use-action.js'
import { EventChoices } from './event-choices.js'
import { SigningSecret } from './signing-secret.js'
import type { EventType } from './use-webhooks.js'

type Submission = Input<'POST', '/api/v1/agent/webhooks'>
type Kind = NonNullable<Submission['kind']>
type FieldName = 'url' | 'chat_id' | 'token' | 'email' | 'description'

interface Field {
  readonly name: FieldName
  readonly label: string
  readonly type?: 'url' | 'email' | 'password'
  readonly isOptional?: true
}

const DESCRIPTION: Field = { name: 'description', label: 'Description', isOptional: true }
const FIELDS: Readonly<Record<Kind, readonly Field[]>> = {
  webhook: [{ name: 'url', label: 'Address', type: 'url' }, DESCRIPTION],
  slack: [{ name: 'url', label: 'Incoming webhook', type: 'url' }, DESCRIPTION],
  telegram: [
    { name: 'chat_id', label: 'Chat' },
    { name: 'token', label: "The bot's token", type: 'password' },
    { name: 'url', label: 'Bot API, if not the default', type: 'url', isOptional: true },
    DESCRIPTION,
  ],
  ntfy: [
    { name: 'url', label: 'Topic', type: 'url' },
    { name: 'token', label: 'Token', type: 'password', isOptional: true },
    DESCRIPTION,
  ],
  email: [{ name: 'email', label: 'Mail address', type: 'email' }, DESCRIPTION],
}
const CHANNELS = ['slack', 'telegram', 'ntfy', 'email'] as const
const DESCRIPTION_LENGTH_MAX = 100

/** Creates an endpoint for a program, or an alert channel for people. */
export function CreateWebhook({ of: what }: { readonly of: 'endpoint' | 'channel' }) {
  const isChannel = what === 'channel'
  const [isOpen, open] = useState(false)
  const [secret, setSecret] = useState<string | null>(null)
  const [isSecretLost, setSecretLost] = useState(false)
  // The address or token of a channel is its secret.
  const submissions = useRef(submissionsOf<Submission>(newCreationKey, NOWHERE))
  return (
    <>
      <button type="button" class={isChannel ? undefined : 'primary'} onClick={() => open(true)}>
        {isChannel ? 'New alert channel' : 'New endpoint'}
      </button>
      {isOpen && (
        <Form
          isChannel={isChannel}
          submissions={submissions.current}
          onClose={() => open(false)}
          onMade={(made) => {
            open(false)
            setSecret(made)
            setSecretLost(made === null && !isChannel)
          }}
        />
      )}
      {secret !== null && <SigningSecret secret={secret} onClose={() => setSecret(null)} />}
      {isSecretLost && (
        <Dialog title="The signing secret" onClose={() => setSecretLost(false)}>
          <p>
            The endpoint was created, but the answer with its secret was lost. Rotate the secret on
            the endpoint's page to get a new one.
          </p>
        </Dialog>
      )}
    </>
  )
}

function Form(shown: {
  readonly isChannel: boolean
  readonly submissions: Submissions<Submission>
  readonly onClose: () => void
  readonly onMade: (secret: string | null) => void
}) {
  const { isChannel, onClose } = shown
  const [kind, setKind] = useState<Kind>(isChannel ? 'slack' : 'webhook')
  const [given, setGiven] = useState<Partial<Record<FieldName, string>>>({})
  const [events, setEvents] = useState<readonly EventType[]>([])
  const create = useAction(
    () => {
      const wanted = FIELDS[kind].map(({ name }) => [name, given[name]?.trim() ?? ''])
      const submission = {
        kind,
        ...Object.fromEntries(wanted.filter(([, value]) => value !== '')),
        ...(events.length === 0 ? {} : { events: [...events] }),
      }
      return makeOnce(shown.submissions, submission, (terms, idempotencyKey) =>
        call('POST', '/api/v1/agent/webhooks', terms, { 'Idempotency-Key': idempotencyKey }),
      )
    },
    ({ secret }) => shown.onMade(secret),
  )
  return (
    <StepDialog
      title={isChannel ? 'New alert channel' : 'New endpoint'}
      step={create}
      label={isChannel ? 'Make the channel' : 'Make the endpoint'}
      runningLabel="Making it…"
      onClose={onClose}
    >
      {isChannel && (
        <label>
          Kind
          <select
            value={kind}
            onChange={({ currentTarget }) => {
              setKind(CHANNELS.find((one) => one === currentTarget.value) ?? 'slack')
              // A token or address of one kind must not be sent to another.
              setGiven(({ description = '' }) => ({ description }))
            }}
          >
            {CHANNELS.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
      )}
      {FIELDS[kind].map(({ name, label, type, isOptional }) => (
        <label key={`${kind} ${name}`}>
          {label} {isOptional && <span class="mute">(optional)</span>}
          <input
            name={name}
            type={type ?? 'text'}
            required={isOptional !== true}
            maxLength={name === 'description' ? DESCRIPTION_LENGTH_MAX : undefined}
            autocomplete="off"
            spellcheck={false}
            value={given[name] ?? ''}
            onInput={({ currentTarget }) =>
              setGiven((before) => ({ ...before, [name]: currentTarget.value }))
            }
          />
        </label>
      ))}
      <EventChoices chosen={events} onChange={setEvents} />
    </StepDialog>
  )
}
