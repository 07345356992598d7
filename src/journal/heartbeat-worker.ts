import { parentPort, workerData } from 'node:worker_threads'
import { systemTimers } from '../clock/timers.js'
import type { Journal } from './journal.js'
import { createLeaderHeartbeats } from './leader-heartbeats.js'
import { type EngineSettings, openEngine } from './open-engine.js'
import { heartbeatsWhileAlive, PULSE, STORED } from './pulse.js'

export interface HeartbeatStart {
  readonly settings: EngineSettings
  readonly partition: number
  /** What the main thread has stored, and a count that it raises as long as it runs. */
  readonly shared: BigInt64Array
}

export type HeartbeatMessage = { readonly begin: number } | 'leave' | 'handOver'

const { settings, partition, shared } = workerData as HeartbeatStart
const timers = systemTimers()
// The main thread has separate connections and logs the journal's errors.
const log = { warn: () => undefined }
let opening: Promise<Journal> | null = null

/** Opened again after each failure, because the engine may be unavailable now. */
function engine(): Promise<Journal> {
  opening ??= openEngine(settings, log).catch((error: unknown) => {
    opening = null
    throw error
  })
  return opening
}

// The engine is opened early, so that the first heartbeat is sent without delay.
void engine().catch(() => undefined)

const heartbeats = createLeaderHeartbeats(
  heartbeatsWhileAlive(
    { heartbeat: async (...asked) => (await engine()).heartbeat(...asked) },
    () => Atomics.load(shared, PULSE),
    timers.elapsed,
  ),
  partition,
  timers,
)
const stored = () => Number(Atomics.load(shared, STORED))

parentPort?.on('message', (message: HeartbeatMessage) => {
  if (message === 'leave') void heartbeats.leave().then(said)
  else if (message === 'handOver') void heartbeats.handOver().then(said)
  else heartbeats.begin(message.begin, stored)
})

function said(): void {
  parentPort?.postMessage('said')
}
