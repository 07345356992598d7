import type { Listener } from './app.js'
import { descriptorsMax, descriptorsOpen } from './open-files.js'

/**
 * Keeps a server that does not report its connections from using up the process's descriptors. Open
 * descriptors are counted, and above the bound the port is closed until there is room. Open
 * connections continue; new ones are refused in that time.
 */

/** A port that listens. */
export interface OpenPort {
  readonly port: number
  close(): void
}

interface BoundedListenerOptions {
  /** Binds the port; 0 picks a free one. */
  readonly bind: (port: number) => Promise<OpenPort>
  readonly port: number
  /** The number of open descriptors at which the port is closed. */
  readonly openMax: number
  readonly onFull: (isFull: boolean) => void
}

/** No flood opens more connections in a millisecond. */
const ACCEPTED_PER_MS_MAX = 100
const POLL_MS_MIN = 2
const POLL_MS_MAX = 100
/** The port opens again once this part of the connections is gone, so that it does not flutter. */
const ROOM_TO_REOPEN = 1 / 16

export async function listenBounded(options: BoundedListenerOptions): Promise<Listener> {
  const { bind, openMax, onFull } = options
  const limit = descriptorsMax() ?? Number.POSITIVE_INFINITY
  const first = await bind(options.port)
  const { port } = first
  let open: OpenPort | null = first
  let closed = false
  let timer: NodeJS.Timeout | undefined

  async function poll(): Promise<void> {
    const count = descriptorsOpen() ?? 0
    if (open !== null && count > openMax) {
      open.close()
      open = null
      onFull(true)
    } else if (open === null && count < openMax * (1 - ROOM_TO_REOPEN)) {
      const again = await bind(port).catch(() => null)
      if (closed) again?.close()
      else if (again !== null) {
        open = again
        onFull(false)
      }
    }
    if (!closed) pollAgain(count)
  }
  /** Soon enough that even a flood could not have used up the free descriptors. */
  function pollAgain(count: number): void {
    const emptyAfterMs = (limit - count) / ACCEPTED_PER_MS_MAX
    const ms = Math.min(POLL_MS_MAX, Math.max(POLL_MS_MIN, emptyAfterMs))
    timer = setTimeout(() => void poll(), ms).unref()
  }
  if (Number.isFinite(openMax)) pollAgain(descriptorsOpen() ?? 0)

  return {
    port,
    close() {
      closed = true
      clearTimeout(timer)
      open?.close()
      open = null
    },
  }
}
