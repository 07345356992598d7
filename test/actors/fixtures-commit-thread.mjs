/** A thread as an actor shard is: commits the transactions it is told, and counts its commits. */
import { parentPort, workerData } from 'node:worker_threads'
import { openEnvironment } from '../../dist/src/store/environment.js'
import {
  attachEventSequence,
  createEventSequenceBuffer,
} from '../../dist/src/store/event-sequence.js'
import { localCommits } from '../../dist/src/store/local-commits.js'
import { WriteBatch } from '../../dist/src/store/write-batch.js'

const environment = openEnvironment(workerData.directory, workerData.versions)
const sequence = attachEventSequence(createEventSequenceBuffer(), () => true)
const commits = localCommits(environment, sequence)

parentPort?.on('message', async (transaction) => {
  const batch = new WriteBatch()
  batch.addTransaction(transaction, null)
  await commits.commit(batch)
  Atomics.add(workerData.commits, 0, 1)
  Atomics.notify(workerData.commits, 0)
})
