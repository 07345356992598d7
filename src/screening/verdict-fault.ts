import { type Fault, fault } from '../errors/fault.js'
import type { Verdict } from './screener.js'

/** The public refusal of a verdict; null when the call may continue. */
export function verdictFault(verdict: Verdict): Fault | null {
  switch (verdict.outcome) {
    case 'clean':
      return null
    case 'blocked': {
      const { address, list, listVersion: version, path } = verdict.hit
      const message = `The address ${address} (${path}) is on the list "${list}".`
      return fault('ADDRESS_BLOCKED', { address, list, version, path }, message)
    }
    case 'undecodable': {
      const { reason, path } = verdict
      return fault('CALLDATA_UNDECODABLE', { reason, path }, reason)
    }
    case 'unavailable':
      return fault('SCREENING_UNAVAILABLE', {}, undefined, verdict.reason)
  }
}
