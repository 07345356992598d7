import { useState } from 'preact/hooks'
import { call } from '../api.js'
import { StepDialog } from '../parts/step-dialog.js'
import { useAction } from '../use-action.js'

const NAME_LENGTH_MAX = 64

export function CreateWallet() {
  const [isOpen, open] = useState(false)
  const [name, setName] = useState('')
  const close = () => open(false)
  const create = useAction(() => call('POST', '/api/v1/agent/wallets', { name }), close)
  return (
    <>
      <button type="button" class="primary" onClick={() => open(true)}>
        New wallet
      </button>
      {isOpen && (
        <StepDialog
          title="New wallet"
          step={create}
          label="Make the wallet"
          runningLabel="Making it…"
          onClose={close}
        >
          <label>
            Name
            <input
              required
              maxLength={NAME_LENGTH_MAX}
              value={name}
              onInput={(event) => setName(event.currentTarget.value)}
            />
          </label>
        </StepDialog>
      )}
    </>
  )
}
