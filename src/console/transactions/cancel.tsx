import { useState } from 'preact/hooks'
import { call } from '../api.js'
import { StepDialog } from '../parts/step-dialog.js'
import { useAction } from '../use-action.js'
import type { Detail } from './detail.js'

const UNMINED: readonly Detail['status'][] = ['signed', 'broadcast']

/** Cancels what is signed but not mined; a block may still be faster. */
export function Cancel({ tx }: { readonly tx: Detail }) {
  const [isOpen, open] = useState(false)
  const close = () => open(false)
  const cancel = useAction(
    () => call('POST', '/api/v1/agent/transactions/:tx_id/cancel', { tx_id: tx.tx_id }),
    close,
  )
  const isPossible = UNMINED.includes(tx.status) && tx.block_number === null
  if (!isPossible || tx.attempts.some(({ cancels }) => cancels)) return null
  return (
    <>
      <button type="button" onClick={() => open(true)}>
        Cancel it
      </button>
      {isOpen && (
        <StepDialog
          title="Cancel this transaction?"
          step={cancel}
          label="Cancel it"
          runningLabel="Cancelling…"
          tone="danger"
          backLabel="Leave it"
          onClose={close}
        >
          <p>
            A transaction that sends nothing is signed at the same nonce with a higher fee. The one
            that is mined first counts; you pay gas either way.
          </p>
        </StepDialog>
      )}
    </>
  )
}
