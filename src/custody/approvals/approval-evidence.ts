import { concat, u8 } from '../../quorum-protocol/bytes.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import { type ApprovalTerm, readApprovalTerm } from './approval-term.js'

/**
 * That a call was asked about, or a person approved it: `action 1 | term | rest`. The same bytes in
 * both logs.
 */
export interface ApprovalEvidence {
  readonly action: 'asked' | 'approved'
  /** Canonical bytes. */
  readonly term: Uint8Array
  /** The encoded proof of what was approved; else empty. */
  readonly rest: Uint8Array
}

export interface ReadApprovalEvidence extends ApprovalEvidence {
  readonly statement: ApprovalTerm
}

const ACTIONS = { asked: 1, approved: 2 } as const

export function encodeApprovalEvidence({ action, term, rest }: ApprovalEvidence): Buffer {
  return concat(u8(ACTIONS[action]), term, rest)
}

/** @throws Refusal MALFORMED */
export function decodeApprovalEvidence(bytes: Uint8Array): ReadApprovalEvidence {
  const [number] = bytes
  const action =
    number === ACTIONS.asked ? 'asked' : number === ACTIONS.approved ? 'approved' : null
  if (action === null) throw new Refusal('MALFORMED', 'evidence of an approval')
  const { statement, encoded, rest } = readApprovalTerm(bytes.subarray(1))
  return { action, term: encoded, rest, statement }
}
