import { type EventId, ID_PREFIX, isId, ulidBody, ulidBytes } from '../domain/ids.js'
import type { DrawEntropy } from './new-id.js'

/** Where an event's place is in the 16 bytes of its id: after the time, before what is random. */
const SEQ_AT = 6
const SEQ_BYTES = 6

/**
 * An id that holds the event's place in the log: the event is found by it without an index, which
 * would be two more records of each send.
 * @param atMs milliseconds since the epoch, when it happened
 */
export function eventIdAt(
  partition: number,
  seq: number,
  atMs: number,
  draw: DrawEntropy,
): EventId {
  const entropy = draw()
  for (let at = SEQ_BYTES - 1, rest = seq; at >= 0; at--) {
    entropy[at] = rest % 256
    rest = Math.floor(rest / 256)
  }
  // Places are counted in each partition on its own: two events never share an id anyway.
  entropy[SEQ_BYTES] = partition
  return (ID_PREFIX.event + ulidBody(atMs, entropy)) as EventId
}

/**
 * @returns the place that the id names, or null where it is no event's id. An id that was given
 * before its event had a place names any, so what is there is to be compared.
 */
export function seqIn(id: string): number | null {
  if (!isId(ID_PREFIX.event, id)) return null
  const { buffer, byteOffset } = ulidBytes(id)
  return Buffer.from(buffer, byteOffset + SEQ_AT, SEQ_BYTES).readUIntBE(0, SEQ_BYTES)
}
