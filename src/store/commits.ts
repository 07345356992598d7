import type { StoredEvent } from '../domain/event.js'
import type { WriteBatch } from './write-batch.js'

/**
 * Where what was decided becomes durable. Hosts of actors and the audit log see this and nothing
 * of the store's files, so that another way to commit is another adapter, and decisions, records
 * and reads stay as they are.
 *
 * `localCommits` is the embedded way: LMDB, one synced transaction a batch. A journal that is
 * fenced and replicated would append the same rows first and apply them afterwards. It would touch
 * nine files: three of its own (the journal's port; `journaled-commits.ts`, which appends
 * `batch.rows()` and then calls `applyRows`; an adapter of the engine), and `config/env.ts`,
 * `main.ts`, `actors/worker.ts` and the start of a worker in `actors/runtime/protocol.ts` for
 * choosing it, `environment.ts` for a view that comes back from a snapshot, and `written-bodies.ts`,
 * which has to forget a partition that is lost. Who owns a partition and how a command finds its
 * node are questions of their own.
 */
export interface Commits {
  /**
   * Makes all of a batch durable, or nothing. Batches become durable in the order of the calls, none
   * without those before it, and their events are seen in that order.
   * @returns the batch's events, each with its place in the log
   * @throws when it is not known to be durable: memory and store may differ from then on
   */
  commit(batch: WriteBatch): Promise<readonly StoredEvent[]>
}
