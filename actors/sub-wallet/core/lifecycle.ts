import type { ErrorCode } from '../../../src/errors/catalogue.js'
import type { CallAtGates } from './call-at-gates.js'
import { passesCaps } from './cap-gate.js'
import { passesGasBudget } from './gas-budget-gate.js'
import {
  passesChain,
  passesDuplicate,
  passesEarlyScreening,
  passesFrozen,
  passesIdempotency,
  passesKey,
  passesNonce,
  passesQuote,
  passesRoom,
  passesWaitingRoom,
} from './gates.js'
import { passesPolicy } from './policy-gate.js'
import type { Turn } from './turn.js'

/** What a call passes before it may wait for a nonce. A new gate is a row of `GATES`. */
export interface Gate {
  readonly name:
    | 'key'
    | 'frozen'
    | 'chain'
    | 'idempotency'
    | 'duplicate'
    | 'room'
    | 'policy'
    | 'quote'
    | 'caps'
    | 'gas-budget'
    | 'screening'
    | 'approval'
    | 'nonce'
  /** `decision`: with the command that brings the call; else the effect whose answer does. */
  readonly movedOnBy: 'decision' | 'screen effect' | 'people, or the clock'
  /** Whether a restart still knows that the call has passed. */
  readonly durable: boolean
  readonly onCrash:
    | 'forgotten, with nothing held'
    | 'forgotten, with its reservation'
    | 'waiting, with its reservation'
  /** What callers are told; `idempotency` answers a repeated request as its first was answered. */
  readonly refusals: readonly ErrorCode[]
  /**
   * Whether a call passes it once more when chain or prices moved on after its quote. What it was
   * asked for stays: it has its place, and is no duplicate of itself.
   */
  readonly askedAgain: boolean
  /** @returns false once the caller has been answered */
  passes(turn: Turn, asked: CallAtGates): boolean
}

const AT_ONCE = {
  movedOnBy: 'decision',
  durable: false,
  onCrash: 'forgotten, with nothing held',
} as const

/**
 * In the order of the specification: authenticate, limit, screen. Sends and sponsored calls pass
 * all of them. The reservation is made when the last has let the call through in the same step, and
 * the screening that no decision can make is asked for then.
 */
export const GATES: readonly Gate[] = [
  {
    ...{ name: 'key', ...AT_ONCE, askedAgain: true, passes: passesKey },
    refusals: ['INVALID_KEY', 'PERMISSION_DENIED'],
  },
  {
    ...{ name: 'frozen', ...AT_ONCE, askedAgain: true, passes: passesFrozen },
    refusals: ['FROZEN'],
  },
  {
    ...{ name: 'chain', ...AT_ONCE, askedAgain: true, passes: passesChain },
    refusals: ['CHAIN_NOT_ALLOWED'],
  },
  {
    ...{ name: 'idempotency', ...AT_ONCE, askedAgain: false, passes: passesIdempotency },
    refusals: ['IDEMPOTENCY_KEY_REUSED', 'IDEMPOTENCY_IN_PROGRESS'],
  },
  {
    ...{ name: 'duplicate', ...AT_ONCE, askedAgain: false, passes: passesDuplicate },
    refusals: ['DUPLICATE_SUSPECTED'],
  },
  {
    ...{ name: 'room', ...AT_ONCE, askedAgain: false, passes: passesRoom },
    refusals: ['OVERLOADED'],
  },
  {
    ...{ name: 'policy', ...AT_ONCE, askedAgain: true, passes: passesPolicy },
    refusals: ['POLICY_DENIED'],
  },
  {
    ...{ name: 'quote', ...AT_ONCE, askedAgain: true, passes: passesQuote },
    refusals: ['PRICE_UNAVAILABLE', 'CHAIN_UNAVAILABLE', 'CHAIN_NOT_SUPPORTED', 'OVERLOADED'],
  },
  {
    ...{ name: 'caps', ...AT_ONCE, askedAgain: true, passes: passesCaps },
    refusals: ['LIMIT_EXCEEDED'],
  },
  {
    ...{ name: 'gas-budget', ...AT_ONCE, askedAgain: true, passes: passesGasBudget },
    refusals: ['RATE_LIMITED'],
  },
  {
    ...{ name: 'screening', movedOnBy: 'screen effect', durable: false },
    ...{ askedAgain: true, passes: passesEarlyScreening },
    onCrash: 'forgotten, with its reservation',
    refusals: ['ADDRESS_BLOCKED', 'CALLDATA_UNDECODABLE', 'SCREENING_UNAVAILABLE'],
  },
  {
    ...{ name: 'approval', movedOnBy: 'people, or the clock', durable: true },
    ...{ askedAgain: false, passes: passesWaitingRoom },
    onCrash: 'waiting, with its reservation',
    refusals: ['OVERLOADED'],
  },
  {
    ...{ name: 'nonce', ...AT_ONCE, askedAgain: false, passes: passesNonce },
    refusals: ['CHAIN_UNAVAILABLE'],
  },
]

const ASKED_AGAIN = GATES.filter(({ askedAgain }) => askedAgain)

/** @returns false once the caller has been answered */
export function passesGates(turn: Turn, asked: CallAtGates): boolean {
  for (const gate of GATES) if (!gate.passes(turn, asked)) return false
  return true
}

/** Of a call that has passed them, with a new quote. */
export function passesAgain(turn: Turn, asked: CallAtGates): boolean {
  for (const gate of ASKED_AGAIN) if (!gate.passes(turn, asked)) return false
  return true
}
