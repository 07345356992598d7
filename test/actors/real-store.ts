import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Commits } from '../../src/store/commits.js'
import { type Environment, openEnvironment } from '../../src/store/environment.js'
import {
  attachEventSequence,
  createEventSequenceBuffer,
  type EventSequence,
} from '../../src/store/event-sequence.js'
import { localCommits } from '../../src/store/local-commits.js'
import { createReader, type Reader } from '../../src/store/reader.js'
import { createVersionsBuffer } from '../../src/store/versions.js'
import { WriteBatch } from '../../src/store/write-batch.js'
import type { Writer } from '../../src/store/writer.js'

/** A real LMDB environment in a directory of its own. */
export interface RealStore {
  readonly directory: string
  readonly environment: Environment
  readonly reader: Reader
  readonly sequence: EventSequence
  readonly commits: Commits
  write(fill: (writer: Writer) => void): Promise<void>
  close(): Promise<void>
}

/** @param recordVersions for other threads that open its directory */
export async function openRealStore(recordVersions = createVersionsBuffer()): Promise<RealStore> {
  const directory = await mkdtemp(join(tmpdir(), 'cs-store-'))
  const environment = openEnvironment(directory, recordVersions)
  const reader = createReader(environment)
  const sequence = attachEventSequence(createEventSequenceBuffer(), () => true)
  const commits = localCommits(environment, sequence)
  return {
    directory,
    environment,
    reader,
    sequence,
    commits,
    async write(fill) {
      const batch = new WriteBatch()
      fill(batch)
      await commits.commit(batch)
      reader.fresh()
    },
    async close() {
      await environment.root.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
