import { useState } from 'preact/hooks'
import { call } from '../api.js'
import { useMay } from '../members/roles.js'
import { useMe } from '../queries.js'
import { useAction } from '../use-action.js'
import { StepDialog } from './step-dialog.js'

export interface FreezeTarget {
  readonly scope: 'user' | 'wallet' | 'key'
  readonly id?: string
  /** Completes "Freeze …". */
  readonly name: string
}

const EVERYTHING: FreezeTarget = { scope: 'user', name: 'everything' }
const REASON_LENGTH_MAX = 200

/** The red button: one press and one confirmation stop everything that is not signed yet. */
export function FreezeButton({ target = EVERYTHING }: { readonly target?: FreezeTarget }) {
  const isEverything = target === EVERYTHING
  const [isOpen, open] = useState(false)
  const me = useMe()
  const mayRun = useMay('run')
  if (!mayRun) return null
  // The banner lifts an existing freeze; a second one would change nothing.
  if (isEverything && me.data?.frozen) return null
  return (
    <>
      <button
        type="button"
        class={isEverything ? 'danger' : 'danger-quiet'}
        aria-label={`Freeze ${target.name}`}
        onClick={() => open(true)}
      >
        Freeze
      </button>
      {isOpen && <FreezeDialog target={target} onClose={() => open(false)} />}
    </>
  )
}

function FreezeDialog(shown: { readonly target: FreezeTarget; readonly onClose: () => void }) {
  const { target, onClose } = shown
  const [reason, setReason] = useState('')
  const freeze = useAction(
    () =>
      call('POST', '/api/v1/agent/freeze', {
        scope: target.scope,
        ...(target.id === undefined ? {} : { id: target.id }),
        ...(reason.trim() === '' ? {} : { reason: reason.trim() }),
      }),
    onClose,
  )
  return (
    <StepDialog
      title={`Freeze ${target.name}?`}
      step={freeze}
      label={`Freeze ${target.name}`}
      runningLabel="Freezing…"
      tone="danger"
      onClose={onClose}
    >
      <p>
        Nothing more is signed: no send, no swap, no deposit. Reads continue. Lifting the freeze
        requires your passkey.
      </p>
      <label>
        Reason <span class="mute">(optional, shown to agents)</span>
        <input
          name="reason"
          maxLength={REASON_LENGTH_MAX}
          value={reason}
          onInput={(event) => setReason(event.currentTarget.value)}
        />
      </label>
    </StepDialog>
  )
}
