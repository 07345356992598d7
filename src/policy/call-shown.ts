import type { Address, Hex } from '../domain/ids.js'
import type { IntentTerms } from '../domain/sponsored-terms.js'
import { SELECTOR_CHARS } from './calldata-words.js'
import type { Operation, Selector, Token } from './policy.js'
import { readTokenCall } from './token-calls.js'

/**
 * What one call shows of itself: its own bytes, to the depth of one, with no help from chain, list
 * or price. Both domains read calls so, each from the bytes that it has.
 */
export interface CallShown {
  /** Null where the bytes leave it open. */
  readonly operation: Operation | null
  readonly chainId: number
  /** Lower-case. */
  readonly callee: Address
  /** Lower-case calldata. */
  readonly data: Hex
  /** Null for one to three bytes, which name no function. */
  readonly selector: Selector | null
  /** Wei. */
  readonly value: bigint
  /** What leaves the wallet or may be taken by others; null when the bytes do not say. */
  readonly moves: readonly Move[] | null
  /** Lower-case: who gets it or may take it; null when the bytes do not say. */
  readonly beneficiaries: readonly Address[] | null
}

export interface Move {
  readonly token: Token
  /** Smallest units. */
  readonly amount: bigint
}

/** A transaction of the wallet itself. */
export interface OwnCall {
  readonly operation: Operation | null
  readonly chainId: number
  readonly to: Address
  readonly value: bigint
  readonly data: Hex
}

/** The native currency where it is among tokens (ERC-7528). */
export const NATIVE_ADDRESS = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'
const NO_MOVES: readonly Move[] = []

export function showCall({ operation, chainId, to, value, data: bytes }: OwnCall): CallShown {
  const callee = to.toLowerCase() as Address
  const data = bytes.toLowerCase() as Hex
  const selector = selectorIn(data)
  const native: readonly Move[] = value > 0n ? [{ token: 'native', amount: value }] : NO_MOVES
  let moves: CallShown['moves'] = null
  let beneficiaries: CallShown['beneficiaries'] = null
  const call = selector === null || selector === 'native' ? null : readTokenCall(selector, data)
  if (selector === 'native') {
    moves = native
    beneficiaries = [callee]
  } else if (call !== null) {
    const moved = { token: callee, amount: call.amount }
    moves = value === 0n ? [moved] : [moved, ...native]
    beneficiaries = value === 0n ? [call.payee] : [call.payee, callee]
  }
  // One literal: a spread would give each call a hidden class of its own, and every look at it a miss.
  return { operation, chainId, callee, data, selector, value, moves, beneficiaries }
}

/**
 * A call that the service pays for: its callee is the venue, its function the venue's, and what it
 * moves is the intent's input with the fee. Whom the venue pays its bytes do not say.
 */
export function showIntent(
  operation: Operation | null,
  chainId: number,
  terms: Pick<IntentTerms, 'tokenIn' | 'amountIn' | 'target' | 'data'>,
): CallShown {
  const token = terms.tokenIn.toLowerCase() as Address
  const data = terms.data.toLowerCase() as Hex
  const isNative = token === NATIVE_ADDRESS
  return {
    operation,
    chainId,
    callee: terms.target.toLowerCase() as Address,
    data,
    selector: selectorIn(data),
    value: isNative ? terms.amountIn : 0n,
    moves: [{ token: isNative ? 'native' : token, amount: terms.amountIn }],
    beneficiaries: null,
  }
}

/**
 * The same where all that is known is what the venue is called with: the input is, where it is native,
 * and what no calldata names could be any function.
 */
export function showVenueCall({ data, ...call }: OwnCall): CallShown {
  const shown = showCall({ ...call, data })
  const { value } = shown
  const selector = shown.selector === 'native' ? null : shown.selector
  const moves: CallShown['moves'] = value > 0n ? [{ token: 'native', amount: value }] : null
  return { ...shown, selector, moves, beneficiaries: null }
}

function selectorIn(data: Hex): Selector | null {
  if (data === '0x') return 'native'
  return data.length < SELECTOR_CHARS ? null : (data.slice(0, SELECTOR_CHARS) as Hex)
}
