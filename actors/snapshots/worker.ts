import { parentPort, workerData } from 'node:worker_threads'
import { systemTimers } from '../../src/clock/timers.js'
import { readJournalFile } from '../../src/config/journal.js'
import { createLogger } from '../../src/config/logging.js'
import { openEngine } from '../../src/journal/open-engine.js'
import { openBesideService } from '../../src/store/environment.js'
import { makeSnapshot } from '../../src/store/snapshots/make-snapshot.js'

/**
 * Entry of the thread that makes one snapshot of the store and ends: reading all of it would hold
 * up requests on any other thread.
 */
export interface SnapshotStart {
  readonly storeDirectory: string
  readonly journalFile: string
  readonly partition: number
  readonly logLevel: string
}

const start = workerData as SnapshotStart
const log = createLogger({ name: 'snapshot', level: start.logLevel })
const stopping = new AbortController()
parentPort?.once('message', () => stopping.abort())
const environment = openBesideService(start.storeDirectory)
const journal = await openEngine(readJournalFile(start.journalFile), log)
try {
  const { snapshots } = journal
  if (snapshots === undefined) throw new Error('the journal keeps no snapshots')
  const { partition } = start
  const timers = systemTimers()
  const options = { environment, snapshots, partition, timers, stopping: stopping.signal }
  parentPort?.postMessage(await makeSnapshot(options))
} finally {
  await journal.close()
  await environment.root.close()
  parentPort?.unref()
}
