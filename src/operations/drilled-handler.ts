import { FAULT_HEADER } from '../api/drills.js'
import type { OperationRow } from '../api/operation-row.js'
import { invalidAt } from '../api/parse.js'
import { DRILLS, type Drill, OWN_ACCOUNT_DRILLS } from '../domain/drill.js'
import { ok, type Result, refuse } from '../errors/fault.js'
import type { AgentHandlers } from './context.js'
import type { AgentHandler } from './prepare-call.js'

/** One more set of handlers for each fault that may be injected; a live service has none. */
export type DrilledHandlers = Readonly<Record<Drill, AgentHandlers>>

/**
 * Finds the handler for a write that requests an injected fault.
 * @param drilled null in a live environment
 * @param asked the header's value, not empty
 * @returns refusals: `INVALID_REQUEST`
 */
export function drilledHandler(
  drilled: DrilledHandlers | null,
  row: OperationRow,
  asked: string,
): Result<AgentHandler> {
  if (drilled === null) return refuse(invalidAt(FAULT_HEADER, LIVE))
  const drill = DRILLS.find((one) => one === asked)
  if (drill === undefined) return refuse(invalidAt(FAULT_HEADER, KNOWN))
  if (row.gas === 'sponsored' && OWN_ACCOUNT_DRILLS.has(drill)) {
    return refuse(invalidAt(FAULT_HEADER, SPONSORED))
  }
  const handlers: Readonly<Record<string, AgentHandler>> = drilled[drill]
  const handler = handlers[row.name]
  if (handler === undefined) throw new Error(`no operation ${row.name}`)
  return ok(handler)
}

const LIVE = 'must not be sent to a live service: faults are for keys that begin with sk_test_'
const KNOWN = `must be one of ${DRILLS.join(', ')}`
const SPONSORED =
  'must be of the call itself: a gas wallet sends it, and other calls behind it would suffer as well'
