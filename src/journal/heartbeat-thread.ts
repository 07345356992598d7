import { Worker } from 'node:worker_threads'
import type { HeartbeatMessage, HeartbeatStart } from './heartbeat-worker.js'
import { LEAVE_MS, type LeaderHeartbeats } from './leader-heartbeats.js'
import type { EngineSettings } from './open-engine.js'
import { PULSE, STORED } from './pulse.js'

const SHARED_BYTES = 2 * BigInt64Array.BYTES_PER_ELEMENT

const PULSE_MS = 100

interface HeartbeatThreadOptions {
  readonly settings: EngineSettings
  readonly partition: number
  /** Called if the thread ends by itself; standbys would soon take the leader for gone. */
  readonly ended: (error: Error) => void
}

/**
 * Sends a leader's heartbeats from a separate thread. A main thread that is busy starting or
 * serving callers would send them late, and a standby would take over. The thread loads at once, so
 * that the first heartbeat follows as soon as the journal is acquired. Heartbeats tell the truth
 * about the process: they stop once the main thread has not run for `MAIN_STILL_MS`.
 */
export function startHeartbeatThread({
  settings,
  partition,
  ended,
}: HeartbeatThreadOptions): LeaderHeartbeats {
  const shared = new BigInt64Array(new SharedArrayBuffer(SHARED_BYTES))
  const workerData: HeartbeatStart = { settings, partition, shared }
  const worker = new Worker(new URL('./heartbeat-worker.js', import.meta.url), { workerData })
  worker.unref()
  let isEnding = false
  let epoch = 0
  let stored = () => 0
  worker.on('error', (error) => {
    if (!isEnding) ended(error instanceof Error ? error : new Error(String(error)))
  })
  worker.on('exit', () => {
    if (!isEnding) ended(new Error('the thread that sends heartbeats ended'))
  })
  const pulse = setInterval(() => {
    Atomics.store(shared, STORED, BigInt(stored()))
    Atomics.add(shared, PULSE, 1n)
  }, PULSE_MS)
  pulse.unref()
  const tell = (message: HeartbeatMessage): void => worker.postMessage(message)

  async function end(state: 'leave' | 'handOver'): Promise<void> {
    if (isEnding) return
    isEnding = true
    clearInterval(pulse)
    if (epoch > 0) {
      Atomics.store(shared, STORED, BigInt(stored()))
      tell(state)
      await new Promise<void>((resolve) => {
        worker.once('message', () => resolve())
        setTimeout(resolve, LEAVE_MS)
      })
    }
    await worker.terminate()
  }

  return {
    begin(its, isStored) {
      stored = isStored
      Atomics.store(shared, STORED, BigInt(stored()))
      if (epoch === 0) tell({ begin: its })
      epoch = its
    },
    leave: () => end('leave'),
    handOver: () => end('handOver'),
  }
}
