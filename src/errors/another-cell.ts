import { type Fault, fault } from './fault.js'

/** Of a request that another node passed on whose journal's file deals users out otherwise. */
export function ofAnotherCell(): Fault {
  const message = 'This node does not have the users of this account, and was asked for them.'
  return fault('WRITES_STOPPED', { reason: 'cell' }, message)
}
