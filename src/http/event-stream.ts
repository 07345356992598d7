import type { z } from 'zod'
import type { eventPage } from '../api/console-webhooks.js'
import type { UserId } from '../domain/ids.js'
import type { Answer } from '../operations/context.js'
import type { ReplyStream } from './exchange.js'

/**
 * Open event streams. Callers keep their own position and resume from a seq, so no events are kept
 * here, and a slow caller's log is not read until the caller catches up.
 */

/** Bounds the tabs of one user; browsers open at most six HTTP/1.1 connections to a host anyway. */
export const STREAMS_PER_USER_MAX = 16
/**
 * A tenth of the requests that may be in flight; a stream counts as one for as long as it lasts.
 */
const STREAMS_MAX = 1_000
/** The longest delay before an event is sent. A poll without news costs two loads. */
const POLL_MS = 200
/** uWebSockets.js closes a connection on which nothing was written for 10 seconds. */
const HEARTBEAT_MS = 4_000
/** A caller that has taken no byte for this long is disconnected. */
const STALLED_MS = 30_000
/** Pause between two checks whether the person is still a member. */
const MEMBER_MS = 1_000

type EventPage = z.infer<typeof eventPage>

interface EventStreamPorts {
  /** The last place of the user's log that may be shown. */
  readonly readableSeq: (userId: UserId) => number
  /** Milliseconds that only grow; `nowMs` returns those since the epoch. */
  readonly monotonicMs: () => number
  readonly nowMs: () => number
  readonly isDraining: () => boolean
}

interface OpenedStream {
  readonly userId: UserId
  /** Expiry of its token. */
  readonly expiresAtMs: number
  /** False if its token is no longer valid. */
  readonly isMember: () => boolean
  /** Seq after which the stream begins. */
  readonly after: number
  readonly read: (after: number) => Answer<EventPage> | Promise<Answer<EventPage>>
  readonly reply: ReplyStream
}

interface Follower extends OpenedStream {
  after: number
  /** The events of a page that were not sent yet. */
  waiting: EventPage['events']
  /** Whether the log has another page after it. */
  hasMore: boolean
  /** All events up to this place were sent. */
  seenSeq: number
  writtenAtMs: number
  /** When the token was last checked. */
  checkedAtMs: number
  /** When the caller stopped taking data; null if it takes data. */
  fullSinceMs: number | null
  isReading: boolean
  isOver: boolean
}

export interface EventStreams {
  /**
   * Reserves a place for one more stream; null when all are taken. Call the result once to release
   * it.
   */
  enter(userId: UserId): (() => void) | null
  follow(opened: OpenedStream, over: () => void): { abort(): void }
}

export function createEventStreams(ports: EventStreamPorts): EventStreams {
  const { readableSeq, monotonicMs, nowMs, isDraining } = ports
  const perUser = new Map<UserId, number>()
  const followers = new Map<Follower, () => void>()
  let places = 0
  let looking: NodeJS.Timeout | null = null

  function end(follower: Follower, reason: string | null): void {
    if (follower.isOver) return
    follower.isOver = true
    const over = followers.get(follower)
    followers.delete(follower)
    if (followers.size === 0 && looking !== null) {
      clearInterval(looking)
      looking = null
    }
    if (reason !== null) {
      follower.reply.write(`event: stream.closed\ndata: ${JSON.stringify({ reason })}\n\n`)
    }
    follower.reply.end()
    over?.()
  }

  function write(follower: Follower, text: string): void {
    follower.writtenAtMs = monotonicMs()
    if (!follower.reply.write(text)) follower.fullSinceMs ??= monotonicMs()
  }

  async function read(follower: Follower): Promise<void> {
    follower.isReading = true
    try {
      // Before the page is read, so that the next poll finds what is committed in between.
      const readable = readableSeq(follower.userId)
      const page = await follower.read(follower.after)
      if (follower.isOver) return
      if (!page.ok) {
        end(follower, page.fault.code)
        return
      }
      const { events, next_after, has_more } = page.value
      follower.waiting = events
      follower.after = next_after
      follower.hasMore = has_more
      if (!has_more) follower.seenSeq = readable
    } catch {
      end(follower, 'INTERNAL')
    } finally {
      follower.isReading = false
    }
    pump(follower)
  }

  /** Sends events until the caller takes no more. */
  function pump(follower: Follower): void {
    while (!follower.isOver && follower.fullSinceMs === null) {
      const event = follower.waiting.shift()
      if (event === undefined) {
        if (follower.hasMore) setImmediate(poll, follower)
        follower.hasMore = false
        return
      }
      write(follower, frameOf(event))
    }
  }

  function isOut(follower: Follower, elapsedMs: number): boolean {
    if (elapsedMs - follower.checkedAtMs < MEMBER_MS) return false
    follower.checkedAtMs = elapsedMs
    return !follower.isMember()
  }

  function poll(follower: Follower): void {
    if (follower.isOver) return
    const elapsedMs = monotonicMs()
    if (isDraining()) end(follower, 'shutting_down')
    else if (nowMs() >= follower.expiresAtMs || isOut(follower, elapsedMs)) {
      end(follower, 'token_ended')
    } else if (follower.fullSinceMs !== null) {
      if (elapsedMs - follower.fullSinceMs > STALLED_MS) follower.reply.abort()
    } else if (follower.isReading) return
    else if (follower.waiting.length > 0) pump(follower)
    else if (readableSeq(follower.userId) > follower.seenSeq) {
      void read(follower)
    } else if (elapsedMs - follower.writtenAtMs >= HEARTBEAT_MS) write(follower, ':\n\n')
  }

  return {
    enter(userId) {
      const open = perUser.get(userId) ?? 0
      if (places >= STREAMS_MAX || open >= STREAMS_PER_USER_MAX) return null
      places++
      perUser.set(userId, open + 1)
      return () => {
        places--
        const left = (perUser.get(userId) ?? 1) - 1
        if (left === 0) perUser.delete(userId)
        else perUser.set(userId, left)
      }
    },
    follow(opened, over) {
      const follower: Follower = {
        ...opened,
        waiting: [],
        hasMore: false,
        // The log may have events after any place, so the first poll reads it.
        seenSeq: -1,
        writtenAtMs: monotonicMs(),
        checkedAtMs: monotonicMs(),
        fullSinceMs: null,
        isReading: false,
        isOver: false,
      }
      followers.set(follower, over)
      opened.reply.onDrain(() => {
        follower.fullSinceMs = null
        poll(follower)
      })
      const { after } = opened
      write(
        follower,
        `retry: 1000\nid: ${after}\nevent: stream.opened\ndata: {"after":${after}}\n\n`,
      )
      looking ??= setInterval(() => {
        for (const each of [...followers.keys()]) poll(each)
      }, POLL_MS)
      poll(follower)
      return { abort: () => end(follower, null) }
    },
  }
}

function frameOf(event: EventPage['events'][number]): string {
  return `id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}
