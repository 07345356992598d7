import type { Address, Hex } from '../domain/ids.js'
import { type CallShown, NATIVE_ADDRESS, showCall, showIntent } from './call-shown.js'
import type { ArgumentValue, Token } from './call-terms.js'
import { type FunctionSignature, parseSignature, type Word } from './function-signature.js'
import { type Circumstances, MINUTE_MS, MONDAY_MS } from './judged-call.js'
import type { Point } from './sampled-call.js'
import { TOKEN_CALLS } from './token-calls.js'

/** Parsed signatures of one search: parsing costs a hash. */
export type Signatures = Map<string, FunctionSignature | null>

export function callOf(point: Point, signatures: Signatures): CallShown {
  const { operation, chainId, callee, token, amount, value } = point
  const data = dataOf(point, signatures)
  if (operation === 'send') return showCall({ operation, chainId, to: callee, value, data })
  const terms = { amountIn: amount, target: callee, data }
  const tokenIn = addressOf(token)
  return showIntent(operation, chainId, { ...terms, tokenIn, tokenOut: outputOf(point) })
}

function outputOf({ operation, callee, tokenOut }: Point): Address {
  if (operation === 'defi_deposit') return callee
  return addressOf(operation === 'gas_swap' ? 'native' : tokenOut)
}

function addressOf(token: Token): Address {
  return token === 'native' ? NATIVE_ADDRESS : token
}

export function circumstancesOf(point: Point, { beneficiaries }: CallShown): Circumstances {
  const { minute, spendMicros, isPayeeKnown, counted, lossBps } = point
  return {
    nowMs: MONDAY_MS + minute * MINUTE_MS,
    paid: isPayeeKnown ? (beneficiaries ?? []) : [],
    ...{ spendMicros, counted, lossBps, used: NOTHING_USED },
  }
}

const NOTHING_USED: Circumstances['used'] = new Map()

function dataOf(point: Point, signatures: Signatures): Hex {
  const { called } = point
  if (called === 'native') return '0x'
  let signature = signatures.get(called)
  if (signature === undefined) {
    signature = parseSignature(called)
    signatures.set(called, signature)
  }
  // A bare selector: no condition reads what follows it.
  if (signature === null) return called as Hex
  const said = new Map<number, bigint | string>()
  const token = TOKEN_CALLS[called]
  if (token !== undefined) {
    said.set(token.payee, point.payee)
    if (typeof token.amount === 'number') said.set(token.amount, point.amount)
    else said.set(token.amount.flag, point.amount > 0n ? 1n : 0n)
  }
  for (const [index, value] of point.values) {
    const at = signature.argumentAt[index] ?? null
    if (at !== null) said.set(at, wordOf(value))
  }
  const words = signature.head.map((word, at) => digitsOf(said.get(at) ?? 0n, word))
  return `${signature.selector}${words.join('')}`
}

function wordOf(value: ArgumentValue): bigint | string {
  if (typeof value === 'boolean') return value ? 1n : 0n
  return value.startsWith('0x') ? value : BigInt(value)
}

/** @param word null for the offset of a dynamic argument, whose content is not shown */
function digitsOf(value: bigint | string, word: Word | null): string {
  const isLeft = word?.kind === 'bytes'
  if (typeof value === 'string') {
    const digits = value.slice(2)
    return isLeft ? digits.padEnd(WORD_DIGITS, '0') : digits.padStart(WORD_DIGITS, '0')
  }
  return BigInt.asUintN(256, value).toString(16).padStart(WORD_DIGITS, '0')
}

const WORD_DIGITS = 64
