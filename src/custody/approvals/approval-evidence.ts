import { concat, u8 } from '../../quorum-protocol/bytes.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import { type ApprovalTerm, readApprovalTerm } from './approval-term.js'

/**
 * Records that an approval was requested or given: `action 1 | term | rest`. Both logs hold the
 * same bytes.
 */
export interface ApprovalEvidence {
  readonly action: 'asked' | 'approved'
  /** The canonical bytes of the term. */
  readonly term: Uint8Array
  /** The encoded proof of an approval; else empty. */
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
