import { inheritHome } from '../custody/home-lock/inherit-home.js'
import { ownHome } from '../custody/home-lock/own-home.js'
import type { FrontDoor } from '../http/front-door.js'
import { READY_TO_TAKE_OVER, SUCCESSOR, SUCCESSOR_WAITS } from '../supervisor/hand-over.js'

/**
 * Makes this service the only one of its home. A first service does so at once; a successor, as
 * soon as its predecessor is gone. Closing the port is the first thing a predecessor does, so the
 * successor binds it at that moment and holds requests until it serves. Before it holds the lock,
 * the successor only reads the home (`check-home.ts`), so the two never write there at the same
 * time.
 */

/** Requests in flight have 10 s to end, and the process has 20 s in all. */
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

/**
 * @returns a function that tells whether a successor waits for the end of this service, as the
 * supervisor reports
 */
export function watchForSuccessor(): () => boolean {
  let waits = false
  process.on('message', (message) => {
    if ((message as { type?: unknown } | null)?.type === SUCCESSOR_WAITS) waits = true
  })
  return () => waits
}
