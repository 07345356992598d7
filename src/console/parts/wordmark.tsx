/** The same as on pages outside the console (src/domain/page-mark.ts). */
export function Wordmark() {
  return (
    <span class="wordmark">
      <svg viewBox="0 0 24 24" aria-hidden="true" class="mark">
        <path class="both" d="M12 6.37a6.5 6.5 0 0 1 0 11.26a6.5 6.5 0 0 1 0-11.26z" />
        <circle cx="8.75" cy="12" r="6.5" />
        <circle cx="15.25" cy="12" r="6.5" />
      </svg>
      Countersign
    </span>
  )
}
