import type { ComponentChildren } from 'preact'
import { Dialog } from './dialog.js'
import { Problem } from './states.js'

/** A step that is taken in a dialog: its fields or a warning, errors, and a way back. */
export function StepDialog(shown: {
  readonly title: string
  /** The result of `useAction`. */
  readonly step: {
    readonly run: () => void
    readonly isRunning: boolean
    readonly error: unknown
  }
  readonly label: string
  readonly runningLabel: string
  /** `danger` for what cannot be undone. */
  readonly tone?: 'primary' | 'danger'
  readonly backLabel?: string
  readonly onClose: () => void
  readonly children: ComponentChildren
}) {
  const { title, step, label, runningLabel, tone = 'primary', onClose } = shown
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          step.run()
        }}
      >
        {shown.children}
        {step.error !== null && <Problem error={step.error} />}
        <div class="actions end">
          <button type="button" onClick={onClose}>
            {shown.backLabel ?? 'Cancel'}
          </button>
          <button type="submit" class={tone} disabled={step.isRunning}>
            {step.isRunning ? runningLabel : label}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
