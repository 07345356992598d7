import type { StoredEvent } from '../domain/event.js'
import type { WriteBatch } from './write-batch.js'

/**
 * Makes decisions durable. Hosts of actors and the audit log see only this interface, not the
 * store's files, so another way to commit is another adapter; decisions, records and reads stay the
 * same.
 *
 * `localCommits` writes to LMDB, one synced transaction per batch. `journaledCommits` gives the
 * same rows to the one writer of a journal, which first appends them there and then applies them.
 * With several nodes, leadership of a partition and routing of commands are separate concerns.
 */
export interface Commits {
  /**
   * Makes all of a batch durable, or nothing. Batches become durable in the order of the calls,
   * none without those before it, and their events become visible in that order.
   * @returns the batch's events, each with its place in the log
   * @throws Error if the batch is not known to be durable; memory and store may differ from then on
   */
  commit(batch: WriteBatch): Promise<readonly StoredEvent[]>
}
