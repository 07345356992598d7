import { type TxId, timeOfId, type UserId } from '../../domain/ids.js'
import { INDEXED_AFTER_MS } from '../../domain/transaction-indexing.js'
import { packedRecord } from '../encodings/sealing.js'
import type { Environment } from '../environment.js'
import { LAST } from '../pages.js'
import type { Reader } from '../reader.js'
import { userAfter } from '../retention/users.js'
import { lastIndexed } from './search.js'
import { encodeSegment, SEGMENT_SIZE_MAX, type SegmentPart } from './segment.js'

interface IndexContext {
  readonly environment: Environment
  readonly reader: Reader
}

/** Users that one step checks; most need no work. */
const USERS_PER_STEP = 256

/**
 * One pass over all users. Each `next` is one step: a segment, or a check of some users. The caller
 * pauses in between. A crash leaves a segment with all its parts, or none.
 */
export function* indexPass(context: IndexContext, nowMs: number): Generator<'indexed' | 'scanned'> {
  const { spaces } = context.environment
  let seen = 0
  let user = userAfter(spaces, 'transactionsByUser', null)
  while (user !== null) {
    while (indexNext(context, user, nowMs - INDEXED_AFTER_MS)) yield 'indexed'
    if (++seen % USERS_PER_STEP === 0) yield 'scanned'
    context.reader.fresh()
    user = userAfter(spaces, 'transactionsByUser', user)
  }
}

/** Writes a user's next segment, if one is full. */
function indexNext({ environment, reader }: IndexContext, user: UserId, beforeMs: number): boolean {
  const { root, spaces } = environment
  reader.fresh()
  const range = {
    start: [user, lastIndexed(spaces, user) ?? ''],
    end: [user, LAST],
    exclusiveStart: true,
  }
  const idsIn = (bounds: { readonly offset?: number; readonly limit: number }) =>
    [...spaces.transactionsByUser.getKeys({ ...range, ...bounds })].map(
      (key) => (key as unknown as [UserId, TxId])[1],
    )
  // Most users have no full segment in any pass, and skipping keys costs far less than reading
  // them.
  const [newest] = idsIn({ offset: SEGMENT_SIZE_MAX - 1, limit: 1 })
  if (newest === undefined || timeOfId(newest) >= beforeMs) return false
  const ids = idsIn({ limit: SEGMENT_SIZE_MAX })
  const [first] = ids
  if (first === undefined) return false
  const segment = encodeSegment(
    ids,
    ids.map((id) => reader.ifSound(() => reader.transactions.byId(id))),
  )
  root.transactionSync(() => {
    for (const [part, bytes] of Object.entries(segment) as [SegmentPart, Uint8Array][]) {
      spaces.transactionSegments.putSync([user, part, first], packedRecord(bytes))
    }
  })
  return true
}
