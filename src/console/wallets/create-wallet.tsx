import { useRef, useState } from 'preact/hooks'
import { newCreationKey } from '../parts/creation-key.js'
import { makeOnce } from '../parts/make-once.js'
import { StepDialog } from '../parts/step-dialog.js'
import { submissionsOf } from '../parts/submissions.js'
import { UNANSWERED } from '../parts/unanswered.js'
import { useAction } from '../use-action.js'
import { makeWallet, type WalletSubmission } from './make-wallet.js'

const NAME_LENGTH_MAX = 64

export function CreateWallet() {
  const [isOpen, open] = useState(false)
  const [name, setName] = useState('')
  const close = () => open(false)
  const submissions = useRef(submissionsOf<WalletSubmission>(newCreationKey, UNANSWERED))
  const create = useAction(() => makeOnce(submissions.current, { wallet: name }, makeWallet), close)
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
