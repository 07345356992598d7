import { liveStatus } from './live.js'

const WORDS = { connecting: 'Connecting', live: 'Connected', reconnecting: 'Reconnecting' } as const

/** Shows whether the page follows events live or polls every few seconds. */
export function LiveSign() {
  const status = liveStatus.value
  return (
    <span class="live" data-status={status} role="status">
      <span class="dot" aria-hidden="true" />
      <span class="live-words">{WORDS[status]}</span>
    </span>
  )
}
