import { inheritHome } from '../custody/home-lock/inherit-home.js'
import { ownHome } from '../custody/home-lock/own-home.js'
import type { FrontDoor } from '../http/front-door.js'
import { READY_TO_TAKE_OVER, SUCCESSOR, SUCCESSOR_WAITS } from '../supervisor/hand-over.js'

/**
 * Makes this service the one of its home: at once, or, when it was started as a successor, as soon
 * as its predecessor is gone. A successor binds the port the moment that one closes it, which is the
 * first thing it does, and holds what comes until it serves. Before the lock is held the home is
 * looked at alone (`check-home.ts`), so the two never write there together.
 */

/** Requests in flight have 10 s to end, and the end of the process 20 s in all. */
const PREDECESSOR_ENDS_MS_MAX = 30_000

export async function takeHome(
  home: string,
  door: FrontDoor,
  at: { readonly host: string; readonly port: number },
): Promise<void> {
  if (!process.argv.includes(SUCCESSOR)) {
    ownHome(home, 'service')
    return
  }
  process.send?.({ type: READY_TO_TAKE_OVER })
  await door.listenEarly(at.host, at.port, PREDECESSOR_ENDS_MS_MAX)
  await inheritHome(home, 'service', PREDECESSOR_ENDS_MS_MAX)
}

/** @returns whether another service of this home waits for this one's end, as the supervisor says */
export function hearOfSuccessor(): () => boolean {
  let waits = false
  process.on('message', (message) => {
    if ((message as { type?: unknown } | null)?.type === SUCCESSOR_WAITS) waits = true
  })
  return () => waits
}
