import type { StoredEvent } from '../domain/event.js'
import type { WriteBatch } from './write-batch.js'

/**
 * Where what was decided becomes durable. Hosts of actors and the audit log see this and nothing
 * of the store's files, so that another way to commit is another adapter, and decisions, records
 * and reads stay as they are.
 *
 * `localCommits` is the embedded way: LMDB, one synced transaction a batch. `journaledCommits` hands
 * the same rows to the one writer of a journal, which appends them there first and applies them
 * afterwards. Who owns a partition of users and how a command finds its node, where several nodes
 * serve at once, are questions of their own.
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
