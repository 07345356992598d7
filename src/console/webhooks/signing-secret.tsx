import { CopyButton } from '../parts/copy-button.js'
import { Dialog } from '../parts/dialog.js'
import { Left } from '../parts/times.js'

/** The secret that signs deliveries, which cannot be shown again. */
export function SigningSecret(shown: {
  readonly secret: string
  /** Until this time the earlier secrets sign as well. */
  readonly oldUntil?: string
  readonly onClose: () => void
}) {
  const { secret, oldUntil } = shown
  return (
    <Dialog title="The signing secret" onClose={shown.onClose}>
      <p>
        <strong>Copy it now:</strong> it is not shown again. Deliveries are signed with it, as
        Standard Webhooks defines, so that a receiver can verify them.
      </p>
      <p class="secret">
        <code>{secret}</code>
        <CopyButton text={secret} label="Copy the signing secret" />
      </p>
      {oldUntil !== undefined && (
        <p>
          The old one signs along for <Left until={oldUntil} /> more.
        </p>
      )}
      <div class="actions end">
        <button type="button" class="primary" onClick={shown.onClose}>
          I have copied it
        </button>
      </div>
    </Dialog>
  )
}
