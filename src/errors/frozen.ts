import type { Freezing } from '../domain/freeze.js'
import { isoTime } from '../domain/iso-time.js'
import { type Fault, fault } from './fault.js'

/** Builds the fault of a freeze, the same for calls and reads. */
export function frozenFault({ scope, sinceMs, reason }: Freezing): Fault {
  return fault('FROZEN', { scope, since: isoTime(sinceMs), reason })
}
