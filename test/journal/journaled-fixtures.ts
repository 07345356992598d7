import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { systemTimers } from '../../src/clock/timers.js'
import type { Freeze } from '../../src/domain/freeze.js'
import type { UserId } from '../../src/domain/ids.js'
import type { Journal } from '../../src/journal/journal.js'
import { auditEntry } from '../../src/store/audit-entry.js'
import { type Environment, openEnvironment } from '../../src/store/environment.js'
import { attachEventSequence, createEventSequenceBuffer } from '../../src/store/event-sequence.js'
import type { JournalWriter } from '../../src/store/journal-writer.js'
import { journaledCommits } from '../../src/store/journaled-commits.js'
import { openJournaledStore } from '../../src/store/journaled-store.js'
import { KEY_SPACES, type KeySpace } from '../../src/store/key-spaces.js'
import { createReader } from '../../src/store/reader.js'
import { WriteBatch } from '../../src/store/write-batch.js'
import { START_MS, USER_ID } from '../actors/wallet-fixtures.js'

/** Stores with a journal, as services start on them, and what they commit. */

export const log = { warn: () => undefined, info: () => undefined }

export function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'cs-journaled-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

export interface Store {
  readonly environment: Environment
  readonly writer: JournalWriter
  readonly failures: unknown[]
  commit(fill: (batch: WriteBatch) => void): Promise<unknown>
  close(): Promise<void>
}

interface Options {
  readonly directory?: string
  readonly contentBytesMax?: number
  readonly elapsed?: () => number
  readonly overtakes?: number
}

/** A service's store, as it starts on that directory. */
export async function startOn(journal: Journal, options: Options = {}): Promise<Store> {
  const { directory = newDirectory(), contentBytesMax, elapsed, overtakes = null } = options
  const environment = openEnvironment(directory, undefined, undefined, 'opened')
  let isOpen = true
  const close = async () => {
    if (isOpen) await environment.root.close()
    isOpen = false
  }
  onTestFinished(close)
  const failures: unknown[] = []
  const timers = { ...systemTimers(), ...(elapsed === undefined ? {} : { elapsed }) }
  const writer = await openJournaledStore({
    ...{ environment, journal, node: 'test', timers, log, overtakes },
    fatal: (error) => failures.push(error),
    ...(contentBytesMax === undefined ? {} : { contentBytesMax }),
  })
  const lastSeqs = createReader(environment).events.lastSeqs()
  const sequence = attachEventSequence(createEventSequenceBuffer(lastSeqs), () => true)
  const commits = journaledCommits(environment, sequence, writer.commit)
  return {
    ...{ environment, writer, failures, close },
    commit(fill) {
      const batch = new WriteBatch()
      fill(batch)
      return commits.commit(batch)
    },
  }
}

/** Whatever a store holds, but for where it is in its journal. */
export function contentsOf({ spaces }: Environment): Record<string, unknown> {
  return Object.fromEntries(
    (Object.keys(KEY_SPACES) as KeySpace[]).map((space) => [
      space,
      [...spaces[space].getRange({})].filter(({ key }) => key !== 'journal_position'),
    ]),
  )
}

const userAt = (index: number) =>
  `${USER_ID.slice(0, -2)}${String(index).padStart(2, '0')}` as UserId

export const freeze = (name: string, userId = USER_ID, reason: string | null = null): Freeze => ({
  ...{ name, userId, reason, scope: 'user', by: 'user', custody: 'current', sinceMs: START_MS },
  ...{ subWalletId: null, lineageId: null, keyId: null },
})

/** What needs several spaces, an event's place, removals, and names that are drawn. */
export function work(batch: WriteBatch, index: number): void {
  const userId = userAt(index % 7)
  const atMs = START_MS + index
  batch.putAddressRules(userId, [])
  batch.putFreeze(freeze(`freeze ${index}`, userId))
  if (index > 2) batch.deleteFreeze(userAt((index - 2) % 7), `freeze ${index - 2}`)
  batch.appendEvent({
    ...{ eventId: null, userId, type: 'webhook.test', atMs },
    ...{ subWalletId: null, laneKey: null, data: { index: BigInt(index) } },
  })
  batch.appendAudit(auditEntry({ userId, atMs, type: 'send.refused', details: { index } }))
}

export async function doWork(store: Store, from: number, count: number): Promise<void> {
  for (let index = from; index < from + count; index++) {
    // Some share a tick.
    const first = store.commit((batch) => work(batch, index))
    await Promise.all([first, store.commit((batch) => work(batch, 1_000 + index))])
  }
}
