import type { TxId } from '../../../src/domain/ids.js'
import type { AccountEvent } from './messages.js'

/** The part of the store that each event changes; the volatile ones change nothing. */
const WRITES_OF: Readonly<
  Record<AccountEvent['type'], 'nothing' | 'transaction' | 'lane' | 'transaction-and-lane'>
> = {
  'lane-synced': 'lane',
  // Gaps at the end of the lane are handed out again.
  'gaps-found': 'lane',
  'transaction-renonced': 'transaction-and-lane',
  'transaction-broadcast': 'transaction',
  'transaction-mined': 'transaction',
  'transaction-unmined': 'transaction',
  'transaction-replaced': 'transaction',
  released: 'nothing',
  queued: 'nothing',
  'lined-up': 'nothing',
  'nonce-assigned': 'nothing',
  'signature-held': 'nothing',
  'signature-failed': 'nothing',
  'lane-resequenced': 'nothing',
  sending: 'nothing',
  indeterminate: 'nothing',
  'refusal-disputed': 'nothing',
  'loss-disputed': 'nothing',
  underpriced: 'nothing',
  'sent-again': 'nothing',
  'ages-from': 'nothing',
  'nonce-lost': 'nothing',
  answered: 'nothing',
  replacing: 'nothing',
  'reading-end': 'nothing',
  'final-block': 'nothing',
}

/** A send looks up several events; with this many names a map is faster than an object. */
const WRITES: ReadonlyMap<string, (typeof WRITES_OF)[AccountEvent['type']]> = new Map(
  Object.entries(WRITES_OF),
)

export function isAccountEvent(event: { readonly type: string }): event is AccountEvent {
  return WRITES.has(event.type)
}

/** The transaction whose record changed. */
export function changedTransaction(event: AccountEvent): TxId | null {
  const writes = WRITES.get(event.type)
  if (writes === 'nothing' || writes === 'lane' || !('txId' in event)) return null
  return event.txId
}

export function changesLane(event: AccountEvent): boolean {
  if (event.type === 'lane-synced') {
    // A nonce that was read for the first time is read again by the next start.
    return event.before !== null && event.before !== event.nextNonce
  }
  const writes = WRITES.get(event.type)
  return writes === 'lane' || writes === 'transaction-and-lane'
}
