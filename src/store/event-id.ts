import { type EventId, ID_PREFIX, isId, ulidBody, ulidBytes } from '../domain/ids.js'
import type { DrawEntropy } from './new-id.js'

/**
 * Offset of the event's place in the 16 bytes of its id, after the time and before the random part.
 */
const SEQ_AT = 6
const SEQ_BYTES = 6

/**
 * Creates an id that contains the event's place in the log. The event is then found without an
 * index, which would need two more records for each send.
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
  // Places are counted separately in each partition, but no two events share an id anyway.
  entropy[SEQ_BYTES] = partition
  return (ID_PREFIX.event + ulidBody(atMs, entropy)) as EventId
}

/**
 * @returns the place in the id, or null if it is not an event's id. An id that was created before
 * its event had a place yields a random one, so callers compare the event they find.
 */
export function seqIn(id: string): number | null {
  if (!isId(ID_PREFIX.event, id)) return null
  const { buffer, byteOffset } = ulidBytes(id)
  return Buffer.from(buffer, byteOffset + SEQ_AT, SEQ_BYTES).readUIntBE(0, SEQ_BYTES)
}
