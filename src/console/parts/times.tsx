import { signal } from '@preact/signals'
import { agoOf, leftOf } from './durations.js'

/** The browser's clock, updated as often as a page that shows times needs it. */
const nowMs = signal(Date.now())
const TICK_MS = 1_000
setInterval(() => {
  if (!document.hidden) nowMs.value = Date.now()
}, TICK_MS)

/** `3 min ago`, with the full time on hover and for screen readers. */
export function Ago({ at }: { readonly at: string | null }) {
  if (at === null) return <span class="mute">never</span>
  const date = new Date(at)
  return (
    <time dateTime={at} title={date.toLocaleString()}>
      {agoOf(nowMs.value - date.getTime())}
    </time>
  )
}

/** The time left until a moment, counted down. */
export function Left({ until }: { readonly until: string }) {
  const date = new Date(until)
  return (
    <time dateTime={until} title={date.toLocaleString()}>
      {leftOf(date.getTime() - nowMs.value)}
    </time>
  )
}

/** The exact time, by the browser's clock and language. */
export function At({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={at}>
      {new Date(at).toLocaleString()}
    </time>
  )
}
