import { useState } from 'preact/hooks'

const SHOWN_MS = 2_000

/** @param label what is copied, for screen readers: `Copy the address` */
export function CopyButton({ text, label }: { readonly text: string; readonly label: string }) {
  const [said, say] = useState<string | null>(null)
  async function copy(): Promise<void> {
    const done = await navigator.clipboard.writeText(text).then(
      () => 'Copied',
      () => 'Not copied',
    )
    say(done)
    setTimeout(() => say(null), SHOWN_MS)
  }
  return (
    <button type="button" class="quiet copy" aria-label={label} onClick={() => void copy()}>
      <span aria-live="polite">{said ?? 'Copy'}</span>
    </button>
  )
}

/** An id, address or hash, shortened in the middle and copied whole. */
export function Id({ value, label }: { readonly value: string; readonly label: string }) {
  return (
    <span class="id">
      <code title={value}>{shortened(value)}</code>
      <CopyButton text={value} label={label} />
    </span>
  )
}

const HEAD = 10
const TAIL = 6

export function shortened(value: string): string {
  return value.length <= HEAD + TAIL + 1 ? value : `${value.slice(0, HEAD)}…${value.slice(-TAIL)}`
}

/** Text to paste, shown whole. */
export function Snippet({ title, text }: { readonly title: string; readonly text: string }) {
  return (
    <figure class="snippet">
      <figcaption>
        {title}
        <CopyButton text={text} label={`Copy ${title}`} />
      </figcaption>
      <pre>{text}</pre>
    </figure>
  )
}
