import { signal } from '@preact/signals'
import type { QueryClient } from '@tanstack/preact-query'
import { accessToken, session } from '../session/session.js'
import { followEvents, type Place } from './follow-events.js'
import { isBelow, isToldOf, staleBy } from './stale-queries.js'

/**
 * One connection for all pages of a tab, as long as a person is signed in and the tab is visible.
 * Browsers allow six HTTP/1.1 connections to a host, for all tabs together.
 */
type LiveStatus = 'connecting' | 'live' | 'reconnecting'
export const liveStatus = signal<LiveStatus>('connecting')

const STREAM_PATH = '/api/v1/agent/events/stream'
/** A short visit to another tab keeps the connection. */
const HIDDEN_MS = 30_000
/** A burst of events causes one reload. */
const GATHER_MS = 300

const POLL_MS = 10_000
/** Also polls while live, in case an event told less than happened. */
const POLL_WHILE_LIVE_MS = 60_000

/** How often a page polls; see staleBy for what events make stale at once. */
export function pollMsOf(query: { readonly queryKey: readonly unknown[] }): number {
  const isLive = liveStatus.peek() === 'live'
  return isLive && isToldOf(query.queryKey[0]) ? POLL_WHILE_LIVE_MS : POLL_MS
}

/** Follows the person who is signed in; call it once. */
export function followWhileSignedIn(client: QueryClient): void {
  let place: Place = { after: null }
  let running: AbortController | null = null
  let hiding: ReturnType<typeof setTimeout> | undefined
  const stale = staleGatherer(client)

  function update(): void {
    clearTimeout(hiding)
    const isWanted = session.peek().status === 'signed-in'
    if (!isWanted) {
      running?.abort()
      running = null
      // The next person has another log.
      place = { after: null }
      liveStatus.value = 'connecting'
    } else if (document.hidden) {
      hiding = setTimeout(() => {
        running?.abort()
        running = null
        liveStatus.value = 'reconnecting'
      }, HIDDEN_MS)
    } else if (running === null) {
      running = new AbortController()
      void followEvents({ ...ports, onEvent: stale.after, onGap: stale.all }, place, running.signal)
    }
  }

  const ports = {
    url: STREAM_PATH,
    token: accessToken,
    pause,
    random: Math.random,
    onLive: () => {
      liveStatus.value = 'live'
    },
    onBroken: () => {
      if (liveStatus.peek() !== 'live') return
      liveStatus.value = 'reconnecting'
      // Pages learn how often to poll by polling.
      stale.all()
    },
  }
  session.subscribe(update)
  document.addEventListener('visibilitychange', update)
}

function staleGatherer(client: QueryClient) {
  /** Null means all. */
  let paths: Set<string> | null = new Set()
  let isDue = false
  function flush(): void {
    const gathered = paths
    isDue = false
    paths = new Set()
    void client.invalidateQueries({
      predicate: ({ queryKey }) =>
        gathered === null || [...gathered].some((path) => isBelow(queryKey[0], path)),
    })
  }
  function add(more: readonly string[] | null): void {
    if (more === null) paths = null
    else for (const path of more) paths?.add(path)
    if (!isDue) setTimeout(flush, GATHER_MS)
    isDue = true
  }
  return { after: (type: string) => add(staleBy(type)), all: () => add(null) }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms)
    function done(): void {
      clearTimeout(timer)
      removeEventListener('online', done)
      signal.removeEventListener('abort', done)
      resolve()
    }
    addEventListener('online', done)
    signal.addEventListener('abort', done)
  })
}
