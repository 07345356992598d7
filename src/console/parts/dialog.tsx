import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'

/** A native dialog: Escape closes it, and focus stays in it and then returns to its place. */
export function Dialog(shown: {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
}) {
  const titleId = useId()
  const element = useRef<HTMLDialogElement>(null)
  // Runs before the dialog is visible, like a page's heading.
  useLayoutEffect(() => {
    const dialog = element.current
    dialog?.showModal()
    // Focuses the first field, if there is one; otherwise the close button would come first.
    dialog?.querySelector<HTMLElement>('input, select, textarea, .primary')?.focus()
    // Closed first, because removing an open dialog would lose the focus.
    return () => dialog?.close()
  }, [])
  return (
    <dialog
      ref={element}
      class="dialog"
      aria-labelledby={titleId}
      // The event of a removed dialog arrives late, and is not about the one that is shown then.
      onClose={() => element.current !== null && shown.onClose()}
    >
      <header class="dialog-head">
        <h2 id={titleId}>{shown.title}</h2>
        <button
          type="button"
          class="quiet icon"
          aria-label="Close"
          onClick={() => element.current?.close()}
        >
          <svg viewBox="0 0 16 16" aria-hidden="true" class="glyph">
            <path d="M4 4l8 8M12 4l-8 8" />
          </svg>
        </button>
      </header>
      {shown.children}
    </dialog>
  )
}
