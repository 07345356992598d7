import type { Address, Hex } from '../domain/ids.js'
import { type CallShown, NATIVE_ADDRESS, showCall, showIntent } from './call-shown.js'
import { type FunctionSignature, parseSignature, type Word } from './function-signature.js'
import { type Circumstances, MINUTE_MS, MONDAY_MS } from './judged-call.js'
import type { ArgumentValue, CalledFunction, Operation, Token } from './policy.js'
import { TOKEN_CALLS } from './token-calls.js'

/** One call and what goes around it, by the things that conditions are about. */
export interface Point {
  readonly operation: Operation
  readonly chainId: number
  readonly callee: Address
  readonly called: CalledFunction
  /** By argument; the others are what `payee` and `amount` say, or nothing. */
  readonly values: ReadonlyMap<number, ArgumentValue>
  readonly payee: Address
  /** What a sponsored call takes; of a call of a token the callee is. */
  readonly token: Token
  /** Smallest units, of a token's call or of a sponsored one. */
  readonly amount: bigint
  /** Wei. */
  readonly value: bigint
  readonly spendMicros: bigint | null
  readonly isPayeeKnown: boolean
  /** Of a week that begins on a Monday. */
  readonly minute: number
  /** By sliding time, seconds. */
  readonly counted: Circumstances['counted']
}

/** Of one search: a signature costs a hash. */
export type Signatures = Map<string, FunctionSignature | null>

export function callOf(point: Point, signatures: Signatures): CallShown {
  const { operation, chainId, callee, token, amount, value } = point
  const data = dataOf(point, signatures)
  if (operation === 'send') return showCall({ operation, chainId, to: callee, value, data })
  const tokenIn = token === 'native' ? NATIVE_ADDRESS : token
  return showIntent(operation, chainId, { tokenIn, amountIn: amount, target: callee, data })
}

export function circumstancesOf(point: Point, { beneficiaries }: CallShown): Circumstances {
  const { minute, spendMicros, isPayeeKnown, counted } = point
  return {
    nowMs: MONDAY_MS + minute * MINUTE_MS,
    paid: isPayeeKnown ? (beneficiaries ?? []) : [],
    ...{ spendMicros, counted, used: NOTHING_USED },
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

/** @param word null: the offset of what lies behind the head, of which nothing is shown */
function digitsOf(value: bigint | string, word: Word | null): string {
  const isLeft = word?.kind === 'bytes'
  if (typeof value === 'string') {
    const digits = value.slice(2)
    return isLeft ? digits.padEnd(WORD_DIGITS, '0') : digits.padStart(WORD_DIGITS, '0')
  }
  return BigInt.asUintN(256, value).toString(16).padStart(WORD_DIGITS, '0')
}

const WORD_DIGITS = 64
