import { type TxId, type UserId, ulidBytes } from '../../domain/ids.js'
import { isFinal } from '../../domain/transaction.js'
import { decodeAudit } from '../encodings/audit.js'
import { PRESENT, packedRecord } from '../encodings/sealing.js'
import type { KeySpace } from '../key-spaces.js'
import { LAST } from '../pages.js'
import { type Mode, type PruneContext, STEP_RECORDS_MAX, type Step } from './step.js'
import { userAfter } from './users.js'

/** Entries lie in `audit`; those of allowed sends, in the index of transactions. */
type AuditSpace = Extract<KeySpace, 'audit' | 'transactionsByUser'>

interface Cursor {
  readonly space: AuditSpace
  readonly user: UserId
  /** Everything of the user up to this id was scanned. */
  readonly id: string
}

/** The value in the index for a transaction without a verdict. */
const NO_VERDICT = 1
const TIME_BYTES = 6

/**
 * Removes the oldest entries of each user. Nothing is chained to them: the trail tells what
 * happened, while the evidence of both domains proves it and is never pruned.
 */
export function auditStep(
  context: PruneContext,
  cursor: Cursor | null,
  beforeMs: number,
  mode: Mode,
): Step<Cursor> {
  let audit = 0
  let left = STEP_RECORDS_MAX
  let at = cursor ?? firstOf(context, 'audit') ?? firstOf(context, 'transactionsByUser')
  while (at !== null) {
    const taken = takeOldest(context, at, beforeMs, left, mode)
    audit += taken.entries
    left -= Math.max(1, taken.scanned)
    at = taken.isDone ? nextOf(context, at) : { ...at, id: taken.id }
    if (left <= 0) break
  }
  return { next: at, pruned: { audit } }
}

function firstOf({ environment }: PruneContext, space: AuditSpace): Cursor | null {
  const user = userAfter(environment.spaces, space, null)
  return user === null ? null : { space, user, id: '' }
}

function nextOf(context: PruneContext, { space, user }: Cursor): Cursor | null {
  const next = userAfter(context.environment.spaces, space, user)
  if (next !== null) return { space, user: next, id: '' }
  return space === 'audit' ? firstOf(context, 'transactionsByUser') : null
}

interface Taken {
  readonly entries: number
  readonly scanned: number
  readonly id: string
  readonly isDone: boolean
}

function takeOldest(
  { environment: { spaces }, reader }: PruneContext,
  { space, user, id }: Cursor,
  beforeMs: number,
  left: number,
  mode: Mode,
): Taken {
  // The state of a transaction that cannot be read is unknown, so its own entries are kept and
  // other entries are removed.
  const isFinalTx = (txId: TxId | null) =>
    reader.ifSound(() => {
      const tx = txId === null ? undefined : reader.transactions.byId(txId)
      return tx === undefined || isFinal(tx.status)
    }) ?? false
  const isVerdict = space === 'transactionsByUser'
  // If the mark cannot be read, it scans from the beginning; entries removed earlier are simply
  // missing.
  const mark = () => reader.ifSound(() => spaces.retained.get([user, 'verdicts'])) ?? ''
  const marked = isVerdict ? String(mark()) : ''
  const start = id > marked ? id : marked
  const old: string[] = []
  let scanned = 0
  let last = start
  let isDone = true
  const range = { start: [user, start], end: [user, LAST], exclusiveStart: true }
  for (const { key, value } of spaces[space].getSound(range)) {
    const entryId = (key as [UserId, string])[1]
    if (timeOf(entryId) >= beforeMs) break
    if (isVerdict && !isFinalTx(entryId as TxId)) break
    if (scanned === left) {
      isDone = false
      break
    }
    scanned++
    last = entryId
    const has = isVerdict ? value !== NO_VERDICT : isFinalTx(decodeAudit(value).txId)
    if (has) old.push(entryId)
  }
  if (mode === 'remove') {
    for (const entryId of old) {
      // The index continues to list the transaction.
      if (isVerdict) spaces[space].putSync([user, entryId], PRESENT)
      else spaces[space].removeSync([user, entryId])
    }
    if (isVerdict && last !== marked)
      spaces.retained.putSync([user, 'verdicts'], packedRecord(last))
  }
  return { entries: old.length, scanned, id: last, isDone }
}

/** Milliseconds since the epoch, which are the first 48 bits of a ULID. */
function timeOf(id: string): number {
  const { buffer, byteOffset } = ulidBytes(id as TxId)
  return Buffer.from(buffer, byteOffset, TIME_BYTES).readUIntBE(0, TIME_BYTES)
}
