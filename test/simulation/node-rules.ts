import type { Draw } from './random.js'

/** What a node says when it does not take a transaction, each in its own words. */
interface Words {
  readonly known: string
  readonly nonceTooLow: (next: number, nonce: number) => string
  readonly gap: string
  readonly replacement: string
  readonly inFlight: string
  readonly feeTooLow: string
  readonly unpaid: string
  readonly gasTooLow: string
}

/** What a node's pool takes. */
export interface PoolRules {
  readonly words: Words
  /** What takes the place of another pays so much more. */
  readonly bumpPercent: bigint
  /** Does not keep what an earlier nonce is missing for. */
  readonly refusesGaps: boolean
  /** Takes nothing that the next block could not have in it. */
  readonly wantsBaseFee: boolean
  /** Takes nothing that an account sends itself: data, or the fork, costs more gas than it has. */
  readonly refusesSelfSends: boolean
}

const GETH: Words = {
  known: 'already known',
  nonceTooLow: (next, nonce) => `nonce too low: next nonce ${next}, tx nonce ${nonce}`,
  gap: 'nonce too high',
  replacement: 'replacement transaction underpriced',
  inFlight: 'in-flight transaction limit reached for delegated accounts',
  feeTooLow: 'max fee per gas less than block base fee',
  unpaid: 'insufficient funds for gas * price + value: balance 0, tx cost 1, overshot 1',
  gasTooLow: 'intrinsic gas too low: gas 100000, minimum needed 120000',
}

const NETHERMIND: Words = {
  known: 'AlreadyKnown',
  nonceTooLow: (next, nonce) => `OldNonce, Current nonce: ${next}, nonce of rejected tx: ${nonce}.`,
  gap: 'NonceGap, Future nonce. Expected nonce: 1',
  replacement: 'ReplacementNotAllowed',
  inFlight: 'DelegatorHasPendingTx',
  feeTooLow: 'FeeTooLow, MaxFeePerGas too low',
  unpaid: 'InsufficientFunds, Balance is 0 less than sending value + gas 1',
  gasTooLow: 'IntrinsicGas, MinGasRequired: 120000',
}

const ERIGON: Words = {
  ...GETH,
  known: 'existing tx with same hash',
  nonceTooLow: () => 'nonce too low',
  replacement: 'could not replace existing tx',
  feeTooLow: 'fee too low',
  unpaid: 'insufficient funds for transfer',
  gasTooLow: 'intrinsic gas too low',
}

/** A gateway in front of one, which wraps what it passes on. */
const GATEWAY: Words = {
  known: 'upstream: already in mempool',
  nonceTooLow: (next, nonce) => `Transaction rejected: nonce is too low (${nonce} < ${next})`,
  gap: 'Transaction rejected: nonce gap',
  replacement: 'upstream: another transaction with same nonce in the queue',
  inFlight: 'upstream: delegation nonce gap',
  feeTooLow: 'upstream: gas price is too low',
  unpaid: 'Transaction rejected: not enough funds to cover transaction costs',
  gasTooLow: 'upstream: intrinsic gas too low',
}

const DIALECTS = [GETH, NETHERMIND, ERIGON, GATEWAY]

export const GETH_RULES: PoolRules = {
  words: GETH,
  bumpPercent: 10n,
  refusesGaps: false,
  wantsBaseFee: false,
  refusesSelfSends: false,
}

export function poolRulesFrom(draw: Draw): PoolRules {
  return {
    words: draw.pick(DIALECTS),
    bumpPercent: draw.pick([10n, 10n, 12n]),
    refusesGaps: draw.chance(0.3),
    wantsBaseFee: draw.chance(0.3),
    refusesSelfSends: false,
  }
}
