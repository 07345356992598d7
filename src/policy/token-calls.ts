import type { ContractFunction } from '../contracts/functions/contract-function.js'
import { TOKEN_FUNCTIONS } from '../contracts/functions/tokens.js'
import type { Address, Hex } from '../domain/ids.js'
import { addressAt, isWellFormed, uintAt } from './calldata-words.js'
import { type FunctionSignature, parseSignature } from './function-signature.js'
import { UINT256_MAX } from './policy.js'

/** What a call of a token takes out of the wallet, or lets others take, as its own words say. */
export interface TokenCall {
  /** Smallest units. */
  readonly amount: bigint
  /** Who gets it, or may take it. */
  readonly payee: Address
}

interface Row {
  readonly signature: FunctionSignature
  /** Word with the amount, or with a flag that gives everything or nothing. */
  readonly amountAt: number | { readonly flag: number }
  readonly payeeAt: number
}

/** ERC-20 with its permits, and EIP-3009: those that do this and nothing else. */
const ROWS: ReadonlyMap<string, Row> = new Map(
  TOKEN_FUNCTIONS.flatMap((one) => {
    const row = rowOf(one)
    return row === null ? [] : [[`0x${one.selector}`, row] as const]
  }),
)

/**
 * @param data lower-case calldata
 * @returns null when the function is none of those, or its words are not as they must be
 */
export function readTokenCall(selector: string, data: Hex): TokenCall | null {
  const row = ROWS.get(selector)
  if (row === undefined || !isWellFormed(data, row.signature)) return null
  const { amountAt, payeeAt } = row
  const amount =
    typeof amountAt === 'number'
      ? uintAt(data, amountAt)
      : uintAt(data, amountAt.flag) === 0n
        ? 0n
        : UINT256_MAX
  return { amount, payee: addressAt(data, payeeAt) }
}

/** Selectors of the functions whose amounts can be read, for tests and documents. */
export const READABLE_TOKEN_CALLS: readonly string[] = [...ROWS.keys()]

function rowOf({ signature, effect }: ContractFunction): Row | null {
  if (effect.kind !== 'outflow' && effect.kind !== 'approval') return null
  const { alone, token, amount } = effect
  if (alone !== true || token !== undefined || amount === 'all') return null
  const named = [...signature.matchAll(/(?:\(|, )([\w:]+) (\w+)/g)]
  const types = named.map(([, type]) => type?.split(':')[0])
  const payeeAt = named.findIndex(([, , name]) => name === 'to' || name === 'spender')
  const parsed = parseSignature(`${signature.slice(0, signature.indexOf('('))}(${types.join(',')})`)
  if (parsed === null || payeeAt < 0) throw new Error(`${signature} names nobody who is paid`)
  return { signature: parsed, amountAt: amount, payeeAt }
}
