import { runUntilStopped } from '../../../src/custody/process-life.js'
import { type Check, layFront } from '../front.js'

/**
 * The address of the login of two identity providers on this machine, each of which has a port of its own: it
 * leads to the one that serves. It is a process, so that sign-ins go on while the command that started it stands
 * still.
 *
 *   node dist/scripts/dev/cluster/login-front.js PORT FIRST SECOND
 */
/** A standby takes over from one that stands still after five seconds; a busy machine answers late. */
const ANSWER_MS_MAX = 4_000
const CLOSE_TIMEOUT_MS = 1_000

const [port = 0, ...providers] = process.argv.slice(2).map(Number)
const front = await layFront(providers, port, serves)
runUntilStopped('login-front', CLOSE_TIMEOUT_MS, front.close)

/** A standby does not listen, and one that has lost its journal answers 503. */
function serves(at: number): Check {
  return {
    async answers(closed) {
      const signal = AbortSignal.any([closed, AbortSignal.timeout(ANSWER_MS_MAX)])
      const discovery = `http://127.0.0.1:${at}/.well-known/openid-configuration`
      const answer = await fetch(discovery, { signal }).catch(() => null)
      await answer?.body?.cancel()
      return answer?.ok === true
    },
    close: () => undefined,
  }
}
