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
import { passIfVerified } from './pass-if-time-is-verified.js'

/**
 * Entry of the thread that removes expired records and indexes the others. It takes no part in any
 * request: its passes start once per interval and pause after each step for longer than the step
 * took.
 */
export interface RetentionStart {
  readonly storeDirectory: string
  readonly recordVersions: SharedArrayBuffer
  /** Nothing is removed by a clock that is not verified against the chains. */
  readonly chainTime: SharedArrayBuffer
  readonly retention: Retention
  readonly intervalMs: number
  readonly logLevel: string
}

/**
 * The pause after a step, which holds up commits for some milliseconds: at most a hundredth of the
 * time.
 */
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

/**
 * The interval of indexing, so that records are found by key, address or hash soon after they are
 * old enough.
 */
const INDEX_MS = 60_000
/**
 * The pause after a step, which takes some ten milliseconds of this thread and one of every commit.
 */
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
 * Indexes only by a verified clock. By a clock that is ahead, new records would be old enough; once
 * the clock is right again, later records would belong before the indexed ones, where no search
 * finds them.
 */
async function indexOnAndOn(): Promise<void> {
  while (!stopping.signal.aborted) {
    await rest(timers, await passIfVerified(clock, INDEX_MS, index), stopping.signal)
  }
}

const indexing = indexOnAndOn()
while (!stopping.signal.aborted) {
  await rest(timers, await passIfVerified(clock, start.intervalMs, pass), stopping.signal)
}
await indexing
await environment.root.close()
parentPort?.postMessage('stopped')
