import { parentPort, workerData } from 'node:worker_threads'
import { attachChainTime } from '../../src/clock/chain-time.js'
import { createServiceClock } from '../../src/clock/service-clock.js'
import { sleep, systemTimers } from '../../src/clock/timers.js'
import { createLogger } from '../../src/config/logging.js'
import { addPruned, NOTHING_PRUNED, type Retention } from '../../src/domain/retention.js'
import { openEnvironment } from '../../src/store/environment.js'
import { createReader } from '../../src/store/reader.js'
import { prunePass } from '../../src/store/retention/prune-store.js'
import { createEventNeeds } from './event-needs.js'
import { passIfBorneOut } from './pass-if-borne-out.js'

/**
 * Entry of the thread that forgets what need not be kept. It has no part in any request: a pass
 * begins once per interval, and rests after each step for longer than a step takes.
 */
export interface RetentionStart {
  readonly storeDirectory: string
  readonly recordVersions: SharedArrayBuffer
  /** Nothing is removed by a clock that the chains do not bear out. */
  readonly chainTime: SharedArrayBuffer
  readonly retention: Retention
  readonly intervalMs: number
  readonly logLevel: string
}

/** After a step, which holds up commits for some milliseconds: a hundredth of the time at most. */
const REST_MS = 500

const start = workerData as RetentionStart
const log = createLogger({ name: 'retention', level: start.logLevel })
const environment = openEnvironment(start.storeDirectory, start.recordVersions, (err) =>
  log.error({ err }, 'a damaged record was passed over'),
)
const reader = createReader(environment)
const context = { environment, reader, needs: createEventNeeds(reader) }
const clock = createServiceClock({ chainTime: attachChainTime(start.chainTime) })
const timers = systemTimers(clock.nowMs)
const stopping = new AbortController()
const stopped = new Promise((resolve) => parentPort?.once('message', resolve))
void stopped.then(() => stopping.abort())

async function rest(ms: number): Promise<void> {
  await Promise.race([stopped, sleep(timers, ms)])
}

async function remove(nowMs: number): Promise<void> {
  let pruned = NOTHING_PRUNED
  for (const step of prunePass(context, start.retention, nowMs, 'remove')) {
    pruned = addPruned(pruned, step)
    await rest(REST_MS)
    if (stopping.signal.aborted) break
  }
  log.info({ ...pruned }, 'old records were removed')
}

async function pass(nowMs: number): Promise<void> {
  await remove(nowMs).catch((error: unknown) => {
    log.error({ err: error }, 'old records could not be removed')
  })
}

while (!stopping.signal.aborted) {
  await rest(await passIfBorneOut(clock, start.intervalMs, pass))
}
await environment.root.close()
parentPort?.postMessage('stopped')
