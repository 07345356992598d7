import type { Address, Hex } from '../domain/ids.js'
import type { IntentTerms } from '../domain/sponsored-terms.js'
import { SELECTOR_CHARS } from './abi-words.js'
import type { Operation, Selector, Token } from './call-terms.js'
import { readTokenCall } from './token-calls.js'

/**
 * One call as its own bytes show it, to a depth of one, without help from chain, list or price.
 * Both domains decode calls this way, each from the bytes that it has.
 */
export interface CallShown {
  /** Null when the bytes leave it open. */
  readonly operation: Operation | null
  readonly chainId: number
  /** Lower-case. */
  readonly callee: Address
  /** The calldata in lower case. */
  readonly data: Hex
  /** Null for one to three bytes, which name no function. */
  readonly selector: Selector | null
  /** Wei. */
  readonly value: bigint
  /**
   * The assets that leave the wallet or may be taken by others; null when the bytes do not show
   * them.
   */
  readonly moves: readonly Move[] | null
  /**
   * The addresses that receive it or may take it, lower-case; null when the bytes do not show them.
   */
  readonly beneficiaries: readonly Address[] | null
  /** The token that the wallet receives; null when the bytes do not show it. */
  readonly tokenOut: TokenOut | null
}

/** `none`: a payment or an allowance, which gives the wallet nothing. */
type TokenOut = Token | 'none'

export interface Move {
  readonly token: Token
  /** In smallest units. */
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

/** The native currency in a list of tokens (ERC-7528). */
export const NATIVE_ADDRESS = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'
const NO_MOVES: readonly Move[] = []

export function showCall({ operation, chainId, to, value, data: bytes }: OwnCall): CallShown {
  const callee = to.toLowerCase() as Address
  const data = bytes.toLowerCase() as Hex
  const selector = selectorIn(data)
  const native: readonly Move[] = value > 0n ? [{ token: 'native', amount: value }] : NO_MOVES
  let moves: CallShown['moves'] = null
  let beneficiaries: CallShown['beneficiaries'] = null
  let tokenOut: CallShown['tokenOut'] = null
  const call = selector === null || selector === 'native' ? null : readTokenCall(selector, data)
  if (selector === 'native') {
    moves = native
    beneficiaries = [callee]
    tokenOut = 'none'
  } else if (call !== null) {
    const moved = { token: callee, amount: call.amount }
    moves = value === 0n ? [moved] : [moved, ...native]
    beneficiaries = value === 0n ? [call.payee] : [call.payee, callee]
    tokenOut = 'none'
  }
  // One literal: a spread would give each call a hidden class of its own, which makes every
  // property read slow.
  return { operation, chainId, callee, data, selector, value, moves, beneficiaries, tokenOut }
}

/**
 * A call that the service pays for: its callee is the venue and its function the venue's; it moves
 * the intent's input with the fee, and gives the intent's output. The bytes do not show whom the
 * venue pays.
 */
export function showIntent(
  operation: Operation | null,
  chainId: number,
  terms: Pick<IntentTerms, 'tokenIn' | 'amountIn' | 'tokenOut' | 'target' | 'data'>,
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
    tokenOut: tokenNamed(terms.tokenOut),
  }
}

function tokenNamed(address: Address): Token {
  const token = address.toLowerCase() as Address
  return token === NATIVE_ADDRESS ? 'native' : token
}

/**
 * The same when only the venue's call is known: the input is known when it is native, and calldata
 * without a known name could be any function.
 * @param tokenOut the output of a swap or a withdrawal; null when unknown
 */
export function showVenueCall({ data, ...call }: OwnCall, tokenOut: Address | null): CallShown {
  const shown = showCall({ ...call, data })
  const { value } = shown
  const selector = shown.selector === 'native' ? null : shown.selector
  const moves: CallShown['moves'] = value > 0n ? [{ token: 'native', amount: value }] : null
  return { ...shown, selector, moves, beneficiaries: null, tokenOut: outputOf(shown, tokenOut) }
}

/**
 * A deposit gives its vault's shares, and a gas swap native currency; the terms show the output of
 * other calls.
 */
function outputOf({ operation, callee }: CallShown, said: Address | null): TokenOut | null {
  if (operation === 'defi_deposit') return callee
  if (operation === 'gas_swap') return 'native'
  return said === null ? null : tokenNamed(said)
}

function selectorIn(data: Hex): Selector | null {
  if (data === '0x') return 'native'
  return data.length < SELECTOR_CHARS ? null : (data.slice(0, SELECTOR_CHARS) as Hex)
}
