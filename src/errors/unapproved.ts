import { type Fault, fault } from './fault.js'

const REASON = 'approval_missing'

/**
 * Of a call whose approvals count for too little at the identity provider by now: it is no refusal
 * of what the key asked for, and people can be asked again.
 */
export function unapprovedFault(internal?: string): Fault {
  return fault('COSIGNER_UNAVAILABLE', { reason: REASON }, TOO_FEW, internal)
}

export function isUnapproved({ code, details }: Fault): boolean {
  return code === 'COSIGNER_UNAVAILABLE' && details.reason === REASON
}

const TOO_FEW = 'Too few of those who approved the call may approve it by now; nothing was signed.'
