import { useState } from 'preact/hooks'
import { call } from '../api.js'
import { StepDialog } from '../parts/step-dialog.js'
import { useAction } from '../use-action.js'
import { EventChoices } from './event-choices.js'
import type { EventType, Webhook } from './use-webhooks.js'

/** Its address, events and description; the address of an alert channel cannot be changed. */
export function ChangeWebhook({ of: webhook }: { readonly of: Webhook }) {
  const [isOpen, open] = useState(false)
  return (
    <>
      <button type="button" onClick={() => open(true)}>
        Change
      </button>
      {isOpen && <ChangeForm of={webhook} onClose={() => open(false)} />}
    </>
  )
}

function ChangeForm(shown: { readonly of: Webhook; readonly onClose: () => void }) {
  const { of: webhook, onClose } = shown
  const [url, setUrl] = useState(webhook.url)
  const [description, setDescription] = useState(webhook.description ?? '')
  const [events, setEvents] = useState<readonly EventType[]>(webhook.events ?? [])
  const change = useAction(
    () =>
      call('PATCH', '/api/v1/agent/webhooks/:webhook_id', {
        webhook_id: webhook.webhook_id,
        ...(url.trim() === webhook.url ? {} : { url: url.trim() }),
        description: description.trim() === '' ? null : description.trim(),
        events: events.length === 0 ? null : [...events],
      }),
    onClose,
  )
  return (
    <StepDialog
      title="Change it"
      step={change}
      label="Change it"
      runningLabel="Changing it…"
      onClose={onClose}
    >
      {webhook.kind === 'webhook' && (
        <label>
          Address
          <input
            required
            name="url"
            type="url"
            autocomplete="off"
            spellcheck={false}
            value={url}
            onInput={({ currentTarget }) => setUrl(currentTarget.value)}
          />
        </label>
      )}
      <label>
        Description <span class="mute">(optional)</span>
        <input
          name="description"
          maxLength={DESCRIPTION_LENGTH_MAX}
          value={description}
          onInput={({ currentTarget }) => setDescription(currentTarget.value)}
        />
      </label>
      <EventChoices chosen={events} onChange={setEvents} />
    </StepDialog>
  )
}

const DESCRIPTION_LENGTH_MAX = 100
