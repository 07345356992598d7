import type { Address, Hex } from '../domain/ids.js'
import { addressAt, isWellFormed, uintAt } from './abi-words.js'
import { UINT256_MAX } from './bounds.js'
import { type FunctionSignature, parseSignature } from './function-signature.js'

/**
 * What a call of a token moves out of the wallet, or lets others take, according to its calldata.
 */
interface TokenCall {
  /** In smallest units. */
  readonly amount: bigint
  /** The address that receives it or may take it. */
  readonly payee: Address
}

/** Positions of words in the head, from 0. */
export interface TokenFunction {
  readonly payee: number
  /** The word with the amount, or with a flag that gives everything or nothing. */
  readonly amount: number | { readonly flag: number }
}

const TO_AND_AMOUNT: TokenFunction = { payee: 0, amount: 1 }
const FROM_TO_AND_AMOUNT: TokenFunction = { payee: 1, amount: 2 }
const AUTHORIZED = 'address,address,uint256,uint256,uint256,bytes32'

/**
 * ERC-20 with its permits, and EIP-3009: token functions that do this and nothing else. A test
 * compares them with the table in `src/contracts/functions`.
 */
export const TOKEN_CALLS: Readonly<Record<string, TokenFunction>> = {
  'transfer(address,uint256)': TO_AND_AMOUNT,
  'transferFrom(address,address,uint256)': FROM_TO_AND_AMOUNT,
  'approve(address,uint256)': TO_AND_AMOUNT,
  'increaseAllowance(address,uint256)': TO_AND_AMOUNT,
  // EIP-2612, and DAI's older form.
  'permit(address,address,uint256,uint256,uint8,bytes32,bytes32)': FROM_TO_AND_AMOUNT,
  'permit(address,address,uint256,uint256,bool,uint8,bytes32,bytes32)': {
    payee: 1,
    amount: { flag: 4 },
  },
  [`transferWithAuthorization(${AUTHORIZED},uint8,bytes32,bytes32)`]: FROM_TO_AND_AMOUNT,
  [`transferWithAuthorization(${AUTHORIZED},bytes)`]: FROM_TO_AND_AMOUNT,
  [`receiveWithAuthorization(${AUTHORIZED},uint8,bytes32,bytes32)`]: FROM_TO_AND_AMOUNT,
  [`receiveWithAuthorization(${AUTHORIZED},bytes)`]: FROM_TO_AND_AMOUNT,
}

interface Row extends TokenFunction {
  readonly signature: FunctionSignature
}

const ROWS: ReadonlyMap<string, Row> = new Map(
  Object.entries(TOKEN_CALLS).map(([text, row]) => {
    const signature = parseSignature(text)
    if (signature === null) throw new Error(`${text} is not a signature`)
    return [signature.selector, { ...row, signature }]
  }),
)

/**
 * @param data lower-case calldata
 * @returns null when the function is not one of those, or its words are not well-formed
 */
export function readTokenCall(selector: string, data: Hex): TokenCall | null {
  const row = ROWS.get(selector)
  if (row === undefined || !isWellFormed(data, row.signature)) return null
  return { amount: amountIn(data, row.amount), payee: addressAt(data, row.payee) }
}

function amountIn(data: Hex, at: TokenFunction['amount']): bigint {
  if (typeof at === 'number') return uintAt(data, at)
  return uintAt(data, at.flag) === 0n ? 0n : UINT256_MAX
}
