import type { ErrorCode } from '../../../src/errors/catalogue.js'
import { GATE_REFUSALS, type GateName } from '../../../src/errors/write-refusals.js'
import type { CallAtGates } from './call-at-gates.js'
import { passesCaps } from './cap-gate.js'
import { passesGasBudget } from './gas-budget-gate.js'
import {
  passesApprovalCapacity,
  passesChain,
  passesDuplicate,
  passesEarlyScreening,
  passesFrozen,
  passesIdempotency,
  passesKey,
  passesNonce,
  passesQuote,
  passesRoom,
} from './gates.js'
import { passesPolicy } from './policy-gate.js'
import { passesSwapLoss } from './swap-loss-gate.js'
import type { Turn } from './turn.js'

/**
 * A check that a call passes before it may wait for a nonce. A new gate is a row of `GATES` and of
 * `GATE_REFUSALS`.
 */
export interface Gate {
  readonly name: GateName
  /**
   * `decision`: the command that brings the call; otherwise the effect whose answer moves it on.
   */
  readonly movedOnBy: 'decision' | 'screen effect' | 'people, or the clock'
  /** Whether a restart still knows that the call has passed. */
  readonly durable: boolean
  readonly onCrash:
    | 'forgotten, with nothing held'
    | 'forgotten, with its reservation'
    | 'waiting, with its reservation'
  /**
   * The codes that callers receive; `idempotency` answers a repeated call as its first was
   * answered.
   */
  readonly refusals: readonly ErrorCode[]
  /**
   * Whether a call passes it once more when the chain or prices moved after its quote. Checks of
   * the place and of duplicates are not repeated, because the call would find itself.
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
 * The gates in the order of the specification: authenticate, limit, screen. Sends and sponsored
 * calls pass all of them. The step in which the last gate passes also makes the reservation and
 * starts the screening, which needs an effect.
 */
export const GATES: readonly Gate[] = [
  {
    ...{ name: 'key', ...AT_ONCE, askedAgain: true, passes: passesKey },
    refusals: GATE_REFUSALS.key,
  },
  {
    ...{ name: 'frozen', ...AT_ONCE, askedAgain: true, passes: passesFrozen },
    refusals: GATE_REFUSALS.frozen,
  },
  {
    ...{ name: 'chain', ...AT_ONCE, askedAgain: true, passes: passesChain },
    refusals: GATE_REFUSALS.chain,
  },
  {
    ...{ name: 'idempotency', ...AT_ONCE, askedAgain: false, passes: passesIdempotency },
    refusals: GATE_REFUSALS.idempotency,
  },
  {
    ...{ name: 'duplicate', ...AT_ONCE, askedAgain: false, passes: passesDuplicate },
    refusals: GATE_REFUSALS.duplicate,
  },
  {
    ...{ name: 'room', ...AT_ONCE, askedAgain: false, passes: passesRoom },
    refusals: GATE_REFUSALS.room,
  },
  {
    ...{ name: 'policy', ...AT_ONCE, askedAgain: true, passes: passesPolicy },
    refusals: GATE_REFUSALS.policy,
  },
  {
    ...{ name: 'quote', ...AT_ONCE, askedAgain: true, passes: passesQuote },
    refusals: GATE_REFUSALS.quote,
  },
  {
    ...{ name: 'swap-loss', ...AT_ONCE, askedAgain: true, passes: passesSwapLoss },
    refusals: GATE_REFUSALS['swap-loss'],
  },
  {
    ...{ name: 'caps', ...AT_ONCE, askedAgain: true, passes: passesCaps },
    refusals: GATE_REFUSALS.caps,
  },
  {
    ...{ name: 'gas-budget', ...AT_ONCE, askedAgain: true, passes: passesGasBudget },
    refusals: GATE_REFUSALS['gas-budget'],
  },
  {
    ...{ name: 'screening', movedOnBy: 'screen effect', durable: false },
    ...{ askedAgain: true, passes: passesEarlyScreening },
    onCrash: 'forgotten, with its reservation',
    refusals: GATE_REFUSALS.screening,
  },
  {
    ...{ name: 'approval', movedOnBy: 'people, or the clock', durable: true },
    ...{ askedAgain: false, passes: passesApprovalCapacity },
    onCrash: 'waiting, with its reservation',
    refusals: GATE_REFUSALS.approval,
  },
  {
    ...{ name: 'nonce', ...AT_ONCE, askedAgain: false, passes: passesNonce },
    refusals: GATE_REFUSALS.nonce,
  },
]

const ASKED_AGAIN = GATES.filter(({ askedAgain }) => askedAgain)

/** @returns false once the caller has been answered */
export function passesGates(turn: Turn, asked: CallAtGates): boolean {
  for (const gate of GATES) if (!gate.passes(turn, asked)) return false
  return true
}

/** Repeats the gates that depend on the quote for a call that has passed them, with a new quote. */
export function passesAgain(turn: Turn, asked: CallAtGates): boolean {
  for (const gate of ASKED_AGAIN) if (!gate.passes(turn, asked)) return false
  return true
}
