import { frameReader } from './event-frames.js'

/**
 * Follows the event log over one connection at a time; after a break, the next connection resumes
 * after the last event that was seen.
 */
export interface FollowPorts {
  readonly url: string
  /** @param refused a token that the service rejected, or that has expired */
  readonly token: (refused?: string) => Promise<string>
  /** Resolves early if another attempt is worthwhile, for example when the network is back. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>
  /** Returns a number between 0 and 1. */
  readonly random: () => number
  readonly onLive: () => void
  /** Called when the connection breaks; other connections are tried until the signal ends it. */
  readonly onBroken: () => void
  /** Called if events were missed, so that everything shown may be outdated. */
  readonly onGap: () => void
  readonly onEvent: (type: string) => void
}

/** Where to resume; the caller keeps it across pauses. */
export interface Place {
  /** Seq of the last event that was seen; null if none was. */
  after: string | null
}

const RETRY_BASE_MS = 500
/** As often as pages poll without the stream. */
const RETRY_MAX_MS = 10_000
/** The answer to a `Last-Event-ID` that the log does not have. */
const NOT_KEPT_STATUS = 400
/** The service writes a comment every 4 seconds. */
const SILENCE_MS = 15_000

export async function followEvents(
  ports: FollowPorts,
  place: Place,
  signal: AbortSignal,
): Promise<void> {
  let refused: string | undefined
  let failures = 0
  while (!signal.aborted) {
    try {
      refused = await followOnce(ports, place, signal, refused, () => {
        failures = 0
      })
    } catch {
      // Whatever the error was, pages poll in the meantime.
      refused = undefined
    }
    if (signal.aborted) return
    ports.onBroken()
    const ceilingMs = Math.min(RETRY_MAX_MS, RETRY_BASE_MS * 2 ** failures)
    failures++
    await ports.pause(ceilingMs * (0.5 + ports.random() / 2), signal)
  }
}

/** @returns the token, if it was the reason for the end */
async function followOnce(
  ports: FollowPorts,
  place: Place,
  signal: AbortSignal,
  refused: string | undefined,
  onOpened: () => void,
): Promise<string | undefined> {
  const ended = new AbortController()
  const end = () => ended.abort()
  signal.addEventListener('abort', end)
  let silence = setTimeout(end, SILENCE_MS)
  try {
    const token = await ports.token(refused)
    const response = await fetch(ports.url, {
      headers: {
        Authorization: `Bearer ${token}`,
        ...(place.after === null ? {} : { 'Last-Event-ID': place.after }),
      },
      cache: 'no-store',
      signal: ended.signal,
    })
    if (response.status === 401) return token
    if (!response.ok || response.body === null) {
      // The log no longer reaches back that far, or is another log.
      if (response.status === NOT_KEPT_STATUS) place.after = null
      return undefined
    }
    const reader = response.body.getReader()
    const decoder = new TextDecoder()
    const framesOf = frameReader()
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return undefined
      clearTimeout(silence)
      silence = setTimeout(end, SILENCE_MS)
      for (const { id, event, data } of framesOf(decoder.decode(value, { stream: true }))) {
        if (event === 'stream.closed') return data.includes('token_ended') ? token : undefined
        if (event === 'stream.opened') {
          onOpened()
          ports.onLive()
          if (place.after === null) ports.onGap()
        } else ports.onEvent(event)
        if (id !== '') place.after = id
      }
    }
  } finally {
    clearTimeout(silence)
    signal.removeEventListener('abort', end)
    end()
  }
}
