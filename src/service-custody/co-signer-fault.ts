import { FaultError, fault } from '../errors/fault.js'
import { Refusal } from '../quorum-protocol/refusal.js'
import { failed, takenOver } from './outcome.js'

/** The other domain's message goes to the log, not to the caller. */
export function coSignerFault(error: unknown): FaultError {
  if (error instanceof FaultError) return error
  const internal = error instanceof Error ? error.message : String(error)
  if (error instanceof Refusal && error.code === 'NOT_CONFIRMED') {
    const details = { reason: 'the identity provider rejected the proof' }
    const unconfirmed = fault('AUTHORIZATION_REFUSED', details, undefined, internal)
    return new FaultError(unconfirmed, { cause: error })
  }
  if (error instanceof Refusal && error.code === 'OVERLOADED') {
    return new FaultError(fault('OVERLOADED', {}, undefined, internal), { cause: error })
  }
  if (error instanceof Refusal && error.code === 'FENCED') {
    return new FaultError(takenOver(internal), { cause: error })
  }
  // Another change of the grant was applied first; this one may pass when it is prepared again.
  const outdated = error instanceof Refusal && error.code === 'STALE_GRANT'
  const refused = error instanceof Refusal && !outdated && failed(error.code).reason === 'REFUSED'
  const made = refused
    ? fault(
        'PERMISSION_DENIED',
        { domain: 'identity_provider', reason: error.code },
        'The identity provider refused the change.',
        internal,
      )
    : fault('COSIGNER_UNAVAILABLE', {}, undefined, internal)
  return new FaultError(made, { cause: error })
}
