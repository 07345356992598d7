import { type Fault, fault } from '../errors/fault.js'

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

const UNREACHED =
  'This node passes requests on to the one that owns the journal, and reaches none now; nothing was done.'

/**
 * What a node says of a request that it passed on, or could not, and that was not answered. A read may
 * be asked again, whatever became of it.
 * @param wasConnected whether the owner may have had it
 */
export function unanswered(method: string, wasConnected: boolean): Fault {
  return wasConnected && !READS.has(method)
    ? fault('OUTCOME_UNKNOWN', { reason: 'standby' })
    : fault('WRITES_STOPPED', { reason: 'standby' }, UNREACHED)
}
