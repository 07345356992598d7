import { parentPort, workerData } from 'node:worker_threads'
import { attachChainTime } from '../../src/clock/chain-time.js'
import { rest } from '../../src/clock/rest.js'
import { createServiceClock } from '../../src/clock/service-clock.js'
import { systemTimers } from '../../src/clock/timers.js'
import { createLogger } from '../../src/config/logging.js'
import { addPruned, NOTHING_PRUNED, type Retention } from '../../src/domain/retention.js'
import { openEnvironment } from '../../src/store/environment.js'
import { createReader } from '../../src/store/reader.js'
import { prunePass } from '../../src/store/retention/prune-store.js'
import { indexPass } from '../../src/store/transaction-index/index-users.js'
import { createEventNeeds } from './event-needs.js'
import { passIfBorneOut } from './pass-if-borne-out.js'

/**
 * Entry of the thread that forgets what need not be kept, and indexes what is. It has no part in
 * any request: its passes begin once per interval, and rest after each step for longer than one takes.
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
parentPort?.once('message', () => stopping.abort())

async function remove(nowMs: number): Promise<void> {
  let pruned = NOTHING_PRUNED
  for (const step of prunePass(context, start.retention, nowMs, 'remove')) {
    pruned = addPruned(pruned, step)
    await rest(timers, REST_MS, stopping.signal)
    if (stopping.signal.aborted) break
  }
  log.info({ ...pruned }, 'old records were removed')
}

async function pass(nowMs: number): Promise<void> {
  await remove(nowMs).catch((error: unknown) => {
    log.error({ err: error }, 'old records could not be removed')
  })
}

/** So that what came in is found by key, address or hash soon after it is old enough. */
const INDEX_MS = 60_000
/** After a step, some ten milliseconds of this thread and one of everybody's commits. */
const INDEX_REST_MS = 250

async function index(nowMs: number): Promise<void> {
  try {
    for (const step of indexPass(context, nowMs)) {
      await rest(timers, step === 'indexed' ? INDEX_REST_MS : 0, stopping.signal)
      if (stopping.signal.aborted) return
    }
  } catch (error) {
    log.error(
      { err: error },
      'transactions could not be indexed: a search looks at fewer at a time',
    )
  }
}

/**
 * By a clock that is ahead, what came in just now would be old enough; once it is right again, what
 * comes would belong before what is indexed, where nothing looks for it.
 */
async function indexOnAndOn(): Promise<void> {
  while (!stopping.signal.aborted) {
    await rest(timers, await passIfBorneOut(clock, INDEX_MS, index), stopping.signal)
  }
}

const indexing = indexOnAndOn()
while (!stopping.signal.aborted) {
  await rest(timers, await passIfBorneOut(clock, start.intervalMs, pass), stopping.signal)
}
await indexing
await environment.root.close()
parentPort?.postMessage('stopped')
