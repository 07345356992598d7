import type { GasJob } from '../../../src/domain/sponsorship.js'
import type { Fault } from '../../../src/errors/fault.js'
import { frozenFault } from '../../../src/errors/frozen.js'
import type { GasWalletState } from './state.js'

/**
 * Why a job is not started: its user, wallet or key was frozen after the intent had been signed.
 * Transactions that end an intent or a delegation on chain only restrict, and continue.
 */
export function whyStopped({ freezingOf }: GasWalletState, job: GasJob): Fault | null {
  const { cancels, lineageId } = job
  const isCall = cancels === null && lineageId !== null
  const freezing = isCall ? freezingOf({ ...job, lineageId }) : null
  return freezing === null ? null : frozenFault(freezing)
}
