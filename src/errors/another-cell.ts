import { type Fault, fault } from './fault.js'

/**
 * The fault of a forwarded request for users of another cell: the other node's journal file assigns
 * users differently.
 */
export function ofAnotherCell(): Fault {
  const message = 'This node does not serve the users of this account.'
  return fault('WRITES_STOPPED', { reason: 'cell' }, message)
}
