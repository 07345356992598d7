import { chainFacts } from '../domain/chains.js'
import type { Address } from '../domain/ids.js'
import { formatUnits } from '../domain/money.js'
import { UINT256_MAX } from './bounds.js'
import { type CallShown, type Move, NATIVE_ADDRESS } from './call-shown.js'
import { parseSignature } from './function-signature.js'

/**
 * One call as a sentence for the person who decides on it: amounts in the token's units with its
 * symbol, and a description of what a function does. Both domains write it, each from its own
 * decoding and with the tokens that it knows.
 */

interface TokenName {
  readonly symbol: string
  readonly decimals: number
}

/** @param token lower-case address; returns null when the token is unknown */
export type TokenNames = (token: Address) => TokenName | null

/** The exchange that a Router intent describes to people. */
interface ExchangeShown {
  /** Addresses; ERC-7528 for the native currency. */
  readonly tokenIn: string
  readonly amountIn: bigint
  readonly tokenOut: string
  readonly minOut: bigint
}

const NATIVE_DECIMALS = 18

/** The signatures of functions that give an allowance. */
const ALLOWANCE_SIGNATURES = [
  'approve(address,uint256)',
  'increaseAllowance(address,uint256)',
  'permit(address,address,uint256,uint256,uint8,bytes32,bytes32)',
  'permit(address,address,uint256,uint256,bool,uint8,bytes32,bytes32)',
]
const ALLOWANCES: ReadonlySet<string> = new Set(
  ALLOWANCE_SIGNATURES.map((signature) => parseSignature(signature)?.selector ?? ''),
)

/** Whether a function lets others take tokens later. */
export function leavesAllowance(selector: string | null): boolean {
  return selector !== null && ALLOWANCES.has(selector)
}

/**
 * @param functionName null when no function is known for the calldata
 * @returns for example `Send 800 USDC to 0x… on Base`
 */
export function callSentence(
  shown: CallShown,
  names: TokenNames,
  functionName: string | null,
): string {
  const { chainId, callee, value, moves, beneficiaries, selector } = shown
  const chain = chainFacts(chainId)?.name ?? `chain ${chainId}`
  const [payee] = beneficiaries ?? []
  const [move] = moves ?? []
  const along =
    value > 0n && move?.token !== 'native'
      ? ` with ${amountInUnits({ token: 'native', amount: value }, chainId, names)}`
      : ''
  if (move === undefined || payee === undefined) {
    const what = functionName === null ? 'a function that is not known' : `“${functionName}”`
    return `Call ${what} of the contract ${callee}${along} on ${chain}`
  }
  const amount = amountInUnits(move, chainId, names)
  return leavesAllowance(selector)
    ? `Let ${payee} take ${amount} from the wallet at any time${along} on ${chain}`
    : `Send ${amount} to ${payee}${along} on ${chain}`
}

/** @returns for example `Exchange 2 USDC for at least 0.0006 WETH on Base` */
export function exchangeSentence(
  { tokenIn, amountIn, tokenOut, minOut }: ExchangeShown,
  chainId: number,
  names: TokenNames,
): string {
  const chain = chainFacts(chainId)?.name ?? `chain ${chainId}`
  const inUnits = (token: string, amount: bigint) =>
    amountInUnits(moveOf(token, amount), chainId, names)
  return `Exchange ${inUnits(tokenIn, amountIn)} for at least ${inUnits(tokenOut, minOut)} on ${chain}`
}

/** An amount with its symbol; for an unknown token, in its smallest unit. */
export function amountInUnits({ token, amount }: Move, chainId: number, names: TokenNames): string {
  if (token === 'native') {
    const symbol = chainFacts(chainId)?.nativeSymbol ?? 'of the native currency'
    return `${formatUnits(amount, NATIVE_DECIMALS)} ${symbol}`
  }
  const name = names(token)
  if (amount === UINT256_MAX) {
    return name === null ? `any amount of the token ${token}` : `any amount of ${name.symbol}`
  }
  return name === null
    ? `${amount} smallest units of the token ${token}`
    : `${formatUnits(amount, name.decimals)} ${name.symbol}`
}

/** @param token address; ERC-7528 for the native currency */
export function moveOf(token: string, amount: bigint): Move {
  const address = token.toLowerCase() as Address
  return { token: address === NATIVE_ADDRESS ? 'native' : address, amount }
}
