import type { ErrorCode } from './catalogue.js'

/**
 * The refusals of a call that moves value, by the step that refuses. Both the sub-wallet's gates
 * and the interface's documents are made from this table, so that no document omits a code.
 */

/** The refusals of each gate, in the order in which a call passes them (`actors/sub-wallet/core/lifecycle.ts`). */
export const GATE_REFUSALS = {
  key: ['INVALID_KEY', 'PERMISSION_DENIED'],
  frozen: ['FROZEN'],
  chain: ['CHAIN_NOT_ALLOWED'],
  idempotency: ['IDEMPOTENCY_KEY_REUSED', 'IDEMPOTENCY_IN_PROGRESS'],
  duplicate: ['DUPLICATE_SUSPECTED'],
  room: ['OVERLOADED'],
  policy: ['POLICY_DENIED'],
  quote: ['PRICE_UNAVAILABLE', 'CHAIN_UNAVAILABLE', 'CHAIN_NOT_SUPPORTED', 'OVERLOADED'],
  'swap-loss': ['SWAP_LOSS_EXCEEDED'],
  caps: ['LIMIT_EXCEEDED'],
  'gas-budget': ['RATE_LIMITED'],
  screening: ['ADDRESS_BLOCKED', 'CALLDATA_UNDECODABLE', 'SCREENING_UNAVAILABLE'],
  approval: ['OVERLOADED'],
  nonce: ['CHAIN_UNAVAILABLE'],
} as const satisfies Readonly<Record<string, readonly ErrorCode[]>>

export type GateName = keyof typeof GATE_REFUSALS

/** Refusals outside the gates: before the first, after the last, and at any time. */
const OTHER_REFUSALS = {
  body: ['REQUEST_TIMEOUT', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'],
  // Reported only when nothing else refuses the call.
  predicted: ['SIMULATION_REVERTED', 'INSUFFICIENT_FUNDS'],
  // The identity provider judges independently.
  signatures: ['COSIGNER_UNAVAILABLE', 'POLICY_DENIED', 'PERMISSION_DENIED', 'FROZEN'],
  chain: ['CHAIN_REJECTED', 'CHAIN_UNAVAILABLE'],
  service: ['WRITES_STOPPED', 'RECORD_DAMAGED', 'OVERLOADED', 'OUTCOME_UNKNOWN'],
} as const satisfies Readonly<Record<string, readonly ErrorCode[]>>

type Refusal =
  | (typeof GATE_REFUSALS)[GateName][number]
  | (typeof OTHER_REFUSALS)[keyof typeof OTHER_REFUSALS][number]

/** Each code once. */
export const WRITE_REFUSALS: readonly Refusal[] = [
  ...new Set<Refusal>([
    ...Object.values(GATE_REFUSALS).flat(),
    ...Object.values(OTHER_REFUSALS).flat(),
  ]),
]
