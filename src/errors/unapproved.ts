import { type Fault, fault } from './fault.js'

const REASON = 'approval_missing'

/**
 * The fault of a call with too few approvals that still count at the identity provider. The key's
 * request itself is not refused, and people can be asked again.
 */
export function unapprovedFault(internal?: string): Fault {
  return fault('COSIGNER_UNAVAILABLE', { reason: REASON }, TOO_FEW, internal)
}

export function isUnapproved({ code, details }: Fault): boolean {
  return code === 'COSIGNER_UNAVAILABLE' && details.reason === REASON
}

const TOO_FEW = "Too few of the call's approvals still count; nothing was signed."
