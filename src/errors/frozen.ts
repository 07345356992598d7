import type { Freezing } from '../domain/freeze.js'
import { isoTime } from '../domain/iso-time.js'
import { type Fault, fault } from './fault.js'

/** Calls and reads of the same freeze say the same of it. */
export function frozenFault({ scope, sinceMs, reason }: Freezing): Fault {
  return fault('FROZEN', { scope, since: isoTime(sinceMs), reason })
}
