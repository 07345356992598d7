import { useState } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { call } from '../api.js'
import { Problem } from '../parts/states.js'
import { StepDialog } from '../parts/step-dialog.js'
import { useAction } from '../use-action.js'
import { SigningSecret } from './signing-secret.js'
import type { Webhook } from './use-webhooks.js'

const BY_ID = '/api/v1/agent/webhooks/:webhook_id'

/** Sends a test event; it appears among the deliveries. */
export function Test({ of: { webhook_id } }: { readonly of: Webhook }) {
  const [isSent, setSent] = useState(false)
  const test = useAction(
    () => call('POST', `${BY_ID}/test`, { webhook_id }),
    () => setSent(true),
  )
  return (
    <>
      <button type="button" disabled={test.isRunning} onClick={test.run}>
        {test.isRunning ? 'Sending…' : 'Send a test'}
      </button>
      <span class="small mute" role="status">
        {isSent && 'Sent.'}
      </span>
      {test.error !== null && <Problem error={test.error} />}
    </>
  )
}

export function SwitchOnOff({ of: { webhook_id, status } }: { readonly of: Webhook }) {
  const next = status === 'enabled' ? 'disabled' : 'enabled'
  const change = useAction(() => call('PATCH', BY_ID, { webhook_id, status: next }))
  return (
    <>
      <button type="button" disabled={change.isRunning} onClick={change.run}>
        {status === 'enabled' ? 'Switch off' : 'Switch on'}
      </button>
      {change.error !== null && <Problem error={change.error} />}
    </>
  )
}

export function RotateSecret({ of: { webhook_id } }: { readonly of: Webhook }) {
  const [isOpen, open] = useState(false)
  const [rotated, setRotated] = useState<{ secret: string; oldUntil: string } | null>(null)
  const rotate = useAction(
    () => call('POST', `${BY_ID}/rotate-secret`, { webhook_id }),
    ({ secret, previous_secrets_expire_at: oldUntil }) => {
      open(false)
      setRotated(secret === null ? null : { secret, oldUntil })
    },
  )
  return (
    <>
      <button type="button" onClick={() => open(true)}>
        Rotate the secret
      </button>
      {isOpen && (
        <StepDialog
          title="Rotate the signing secret?"
          step={rotate}
          label="Rotate"
          runningLabel="Rotating…"
          onClose={() => open(false)}
        >
          <p>
            You get a new secret. For 24 hours both sign, so that you can update the receiver
            without a gap.
          </p>
        </StepDialog>
      )}
      {rotated !== null && <SigningSecret {...rotated} onClose={() => setRotated(null)} />}
    </>
  )
}

export function Remove({ of: { webhook_id } }: { readonly of: Webhook }) {
  const [isOpen, open] = useState(false)
  const [, go] = useLocation()
  const remove = useAction(
    () => call('DELETE', BY_ID, { webhook_id }),
    () => go('/webhooks'),
  )
  return (
    <>
      <button type="button" class="danger-quiet" onClick={() => open(true)}>
        Remove
      </button>
      {isOpen && (
        <StepDialog
          title="Remove it?"
          step={remove}
          label="Remove for good"
          runningLabel="Removing…"
          tone="danger"
          onClose={() => open(false)}
        >
          <p>Nothing more is sent there, and the record of its deliveries is removed.</p>
        </StepDialog>
      )}
    </>
  )
}
