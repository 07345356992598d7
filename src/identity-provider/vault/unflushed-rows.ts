import { viewOf } from '../../quorum-protocol/bytes.js'

/** A database's rows that are decided but not on disk: readable at once, written together. */
export interface UnflushedRows<K, V> {
  get(key: K): V | undefined
  set(key: K, value: V): void
  /** How many rows no `put` has taken yet. */
  readonly waiting: number
  /** Hands the waiting rows to the database, in the order in which they were last set. */
  put(): PutRows
}

/** Exactly one of the two is called once the outcome is known. */
export interface PutRows {
  flushed(): void
  /** Puts the rows back in the queue, except those that have a newer value. */
  failed(): void
}

interface Row<K, V> {
  readonly name: string | number
  readonly key: K
  readonly value: V
}

/** @param putRow writes a row within the caller's transaction */
export function unflushedRows<K extends Uint8Array | number, V>(
  putRow: (key: K, value: V) => void,
): UnflushedRows<K, V> {
  const rows = new Map<string | number, Row<K, V>>()
  let waiting: Row<K, V>[] = []
  return {
    get: (key) => rows.get(nameOf(key))?.value,
    set(key, value) {
      const row = { name: nameOf(key), key, value }
      rows.set(row.name, row)
      waiting.push(row)
    },
    get waiting() {
      return waiting.length
    },
    put() {
      // A row that was set again is written once, with its newest value.
      const taken = waiting.filter((row) => rows.get(row.name) === row)
      waiting = []
      for (const { key, value } of taken) putRow(key, value)
      return {
        flushed() {
          for (const row of taken) if (rows.get(row.name) === row) rows.delete(row.name)
        },
        failed() {
          waiting = [...taken.filter((row) => rows.get(row.name) === row), ...waiting]
        },
      }
    },
  }
}

function nameOf(key: Uint8Array | number): string | number {
  return typeof key === 'number' ? key : viewOf(key).toString('latin1')
}
