import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'

/** A native dialog: Escape closes it, focus stays in it and goes back to where it was. */
export function Dialog(shown: {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
}) {
  const titleId = useId()
  const element = useRef<HTMLDialogElement>(null)
  // Before it is seen, as the heading of a page.
  useLayoutEffect(() => {
    const dialog = element.current
    dialog?.showModal()
    // The first field, where there is one: the button that closes it comes first otherwise.
    dialog?.querySelector<HTMLElement>('input, select, textarea, .primary')?.focus()
    // Taken away while it is open, it would leave the focus nowhere.
    return () => dialog?.close()
  }, [])
  return (
    <dialog
      ref={element}
      class="dialog"
      aria-labelledby={titleId}
      // Of one that is taken away the event comes late, and is not about what is shown then.
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
