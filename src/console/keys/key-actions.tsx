import { useState } from 'preact/hooks'
import { Link } from 'wouter-preact'
import { call } from '../api.js'
import { May } from '../members/may.js'
import { ConfirmedAction } from '../parts/confirmed-action.js'
import { Dialog } from '../parts/dialog.js'
import { FreezeButton } from '../parts/freeze-button.js'
import { StepDialog } from '../parts/step-dialog.js'
import { useAction } from '../use-action.js'
import { ChangeCaps } from './change-caps.js'
import type { Key } from './key.js'
import { SecretShown } from './secret-shown.js'

/** The actions on a key that is not revoked. */
export function KeyActions({ of: key }: { readonly of: Key }) {
  if (key.status === 'revoked') return null
  return (
    <div class="actions">
      <May power="enlarge">{key.status === 'active' && <ChangeCaps of={key} />}</May>
      {key.status === 'active' && (
        <Link
          class="button"
          href={`/keys/${key.key_id}/policy`}
          aria-label={`Policy of ${key.name}`}
        >
          Policy
        </Link>
      )}
      <May power="enlarge">
        <Rotate of={key} />
      </May>
      {key.frozen === null ? (
        <FreezeButton target={{ scope: 'key', id: key.key_id, name: key.name }} />
      ) : (
        <May power="enlarge">
          <Unfreeze of={key} />
        </May>
      )}
      <May power="run">
        <Revoke of={key} />
      </May>
    </div>
  )
}

function Unfreeze({ of: key }: { readonly of: Key }) {
  if (key.frozen?.by === 'operator') return null
  return (
    <ConfirmedAction
      label="Unfreeze"
      title={`Unfreeze ${key.name}?`}
      act={(authorization) =>
        call('POST', '/api/v1/agent/unfreeze', {
          scope: 'key',
          id: key.key_id,
          ...(authorization === null ? {} : { authorization }),
        })
      }
    >
      <p>It can send again, within its caps and its policy.</p>
    </ConfirmedAction>
  )
}

/** Stays visible after the key was replaced, because it shows the new secret. */
function Rotate({ of: key }: { readonly of: Key }) {
  const [step, setStep] = useState<'closed' | 'asking' | { readonly secret: string }>('closed')
  const close = () => setStep('closed')
  const rotate = useAction(
    () => call('POST', '/api/v1/agent/keys/:key_id/rotate', { key_id: key.key_id }),
    ({ secret }) => setStep({ secret }),
  )
  return (
    <>
      {key.status === 'active' && (
        <button type="button" aria-label={`Rotate ${key.name}`} onClick={() => setStep('asking')}>
          Rotate
        </button>
      )}
      {step === 'asking' && (
        <StepDialog
          title={`Rotate ${key.name}?`}
          step={rotate}
          label="Rotate"
          runningLabel="Rotating…"
          onClose={close}
        >
          <p>
            You get a new secret. The old one works for another 24 hours, on the same caps, so that
            you can update the agent without a gap.
          </p>
        </StepDialog>
      )}
      {typeof step === 'object' && (
        <Dialog title="The new secret" onClose={close}>
          <SecretShown secret={step.secret} />
          <div class="actions end">
            <button type="button" class="primary" onClick={close}>
              I have copied it
            </button>
          </div>
        </Dialog>
      )}
    </>
  )
}

function Revoke({ of: key }: { readonly of: Key }) {
  const [isOpen, open] = useState(false)
  const close = () => open(false)
  const revoke = useAction(
    () => call('POST', '/api/v1/agent/keys/:key_id/revoke', { key_id: key.key_id }),
    close,
  )
  return (
    <>
      <button type="button" aria-label={`Revoke ${key.name}`} onClick={() => open(true)}>
        Revoke
      </button>
      {isOpen && (
        <StepDialog
          title={`Revoke ${key.name}?`}
          step={revoke}
          label="Revoke permanently"
          runningLabel="Revoking…"
          tone="danger"
          onClose={close}
        >
          <p>
            The key is refused at once, and cannot be restored. Calls that are already signed
            continue; the wallet and its money stay.
          </p>
        </StepDialog>
      )}
    </>
  )
}
