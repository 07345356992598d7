import { randomUUID } from 'node:crypto'
import {
  type Appended,
  JournalUnavailable,
  SnapshotGone,
  SnapshotIncomplete,
  SnapshotOvertaken,
  type Snapshots,
  SWEPT_MAX,
} from './journal.js'
import { checkChunk, checkNewSnapshot } from './judge-snapshot.js'
import type { Message } from './restate-frames.js'
import {
  type Counted,
  isOver,
  type KnownAnswer,
  type PublishedOrNot,
} from './restate-partition-snapshots.js'
import { partitionKey, type Request, snapshotKey } from './restate-requests.js'
import type { Cleared } from './restate-snapshot-object.js'

/** Attempts of a poll during which entries are trimmed. */
const TRIES_MAX = 5

/**
 * Snapshots beside the journal in Restate: the chunks of each are in a separate object, and the
 * partition's object names the visible one.
 * @param ask sends a request to an object, by its key
 */
export function restateSnapshots(
  ask: (object: string, request: Request, body?: Uint8Array) => Promise<Message>,
): Snapshots {
  async function known(partition: number): Promise<KnownAnswer> {
    const request: Request = { operation: 'known', nonce: randomUUID() }
    return (await ask(partitionKey(partition), request)).json as KnownAnswer
  }

  /** @returns the number of cleared chunks */
  async function swept(partition: number, id: string, chunksMax: number): Promise<number> {
    const clear: Request = { operation: 'clear', nonce: randomUUID(), chunksMax }
    const { chunks, isMore } = (await ask(snapshotKey(partition, id), clear)).json as Cleared
    if (!isMore) {
      await ask(partitionKey(partition), { operation: 'forget', nonce: randomUUID(), id })
    }
    return chunks
  }

  return {
    async readHead(partition) {
      for (let tries = 0; tries < TRIES_MAX; tries++) {
        const { newest, tailBytes } = await known(partition)
        // Restate does not report disk usage to clients of an object.
        if (tailBytes !== null) return { newest, tailBytes, engineBytes: null }
      }
      throw new JournalUnavailable('the journal is trimmed while it is read')
    },

    async put(at, body) {
      checkChunk(at, body)
      const { partition, epoch, id, index } = at
      const begin: Request = { operation: 'begin', nonce: randomUUID(), epoch, id, index }
      const begun = (await ask(partitionKey(partition), begin)).json as Appended
      if (begun.kind === 'fenced') return begun
      // If another node acquires the partition now, the snapshot is never published.
      const put: Request = { operation: 'put', epoch, index }
      return (await ask(snapshotKey(partition, id), put, body)).json as Appended
    },

    async publish(snapshot) {
      checkNewSnapshot(snapshot)
      const { partition, ...asked } = snapshot
      const count: Request = {
        ...{ operation: 'counted', nonce: randomUUID(), chunks: snapshot.chunks },
      }
      const counted = (await ask(snapshotKey(partition, snapshot.id), count)).json as Counted
      const publish: Request = { operation: 'publish', snapshot: asked, counted }
      const answer = (await ask(partitionKey(partition), publish)).json as PublishedOrNot
      if (answer.kind === 'incomplete') throw new SnapshotIncomplete(snapshot, answer.there)
      if (answer.kind === 'overtaken') throw new SnapshotOvertaken(snapshot, answer.newest)
      return answer
    },

    async read(partition, id, index) {
      const request: Request = { operation: 'chunk', nonce: randomUUID(), index }
      const [{ newest }, { json, bytes }] = await Promise.all([
        known(partition),
        ask(snapshotKey(partition, id), request),
      ])
      const { isThere } = json as { readonly isThere: boolean }
      if (newest?.id !== id || !isThere) throw new SnapshotGone(id, index)
      return bytes
    },

    async sweep(partition, epoch) {
      const { newest, others } = await known(partition)
      let chunks = 0
      for (const other of others) {
        if (chunks === SWEPT_MAX) break
        if (!isOver(other, epoch, newest)) continue
        const { id } = other
        const condemn: Request = { operation: 'condemn', nonce: randomUUID(), epoch, id }
        const answer = (await ask(partitionKey(partition), condemn)).json
        if (!(answer as { readonly isOver: boolean }).isOver) continue
        chunks += await swept(partition, id, SWEPT_MAX - chunks)
      }
      return chunks
    },
  }
}
