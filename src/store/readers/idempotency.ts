import type { IdempotencyRecord } from '../../domain/idempotency.js'
import type { LineageId } from '../../domain/ids.js'
import type { Environment } from '../environment.js'

export interface IdempotencyReader {
  byKey(lineage: LineageId, key: string): IdempotencyRecord | undefined
  /** Records in key order, after a given place or from the first. */
  after(
    place: readonly [LineageId, string] | null,
    limit: number,
  ): Generator<{ lineageId: LineageId; key: string; record: IdempotencyRecord }>
}

export function createIdempotencyReader({
  spaces,
}: Pick<Environment, 'spaces'>): IdempotencyReader {
  return {
    byKey: (lineage, key) =>
      spaces.idempotency.get([lineage, key]) as IdempotencyRecord | undefined,
    *after(place, limit) {
      const from = place === null ? {} : { start: [...place], exclusiveStart: true }
      let left = limit
      for (const { key, value } of spaces.idempotency.getSound(from)) {
        if (left-- === 0) return
        const [lineageId, name] = key as unknown as [LineageId, string]
        yield { lineageId, key: name, record: value as IdempotencyRecord }
      }
    },
  }
}
