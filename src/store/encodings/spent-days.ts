import type { SpentDay } from '../../domain/spent-days.js'
import { packedRecord, type Unsealed } from './sealing.js'

/** Days and micro-dollars, alternating. */
type Stored = readonly (number | bigint)[]

/** @returns a value to put in the space `spentDays` */
export function encodeSpentDays(days: readonly SpentDay[]): Unsealed {
  return packedRecord(days.flatMap(({ day, micros }) => [day, micros]))
}

/** @param stored what `spentDays` holds */
export function decodeSpentDays(stored: unknown): readonly SpentDay[] {
  const all = stored as Stored
  const days: SpentDay[] = []
  for (let at = 0; at + 1 < all.length; at += 2) {
    days.push({ day: Number(all[at]), micros: BigInt(all[at + 1] ?? 0) })
  }
  return days
}
