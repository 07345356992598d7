import { type Fault, fault } from '../errors/fault.js'

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

const UNREACHED =
  'This node forwards requests to the leader of the journal, and cannot reach one now. Nothing was done.'

/**
 * The answer to a request that this node could not forward, or that was forwarded but not answered.
 * A read may be repeated, whatever happened to it.
 * @param wasConnected whether the leader may have received it
 * @param txId of the transaction that it made, if known here
 */
export function unanswered(
  method: string,
  wasConnected: boolean,
  txId: () => string | null = () => null,
): Fault {
  if (!wasConnected || READS.has(method)) {
    return fault('WRITES_STOPPED', { reason: 'standby' }, UNREACHED)
  }
  const known = txId()
  return known === null
    ? fault('OUTCOME_UNKNOWN', { reason: 'standby' })
    : fault('OUTCOME_UNKNOWN', { reason: 'standby', tx_id: known })
}
