import { liveStatus } from './live.js'

const WORDS = { connecting: 'Connecting', live: 'Live', reconnecting: 'Reconnecting' } as const

/** Whether what is shown follows what happens, or is read anew every few seconds. */
export function LiveSign() {
  const status = liveStatus.value
  return (
    <span class="live" data-status={status} role="status">
      <span class="dot" aria-hidden="true" />
      <span class="live-words">{WORDS[status]}</span>
    </span>
  )
}
