import { CHAIN_IDS } from '../../domain/chains.js'
import { UINT256_MAX } from '../../policy/bounds.js'
import { NATIVE_ADDRESS } from '../../policy/call-shown.js'
import { OPERATIONS, type Operation, type Selector, type Token } from '../../policy/call-terms.js'
import {
  type FunctionSignature,
  parseSignature,
  type Word,
} from '../../policy/function-signature.js'
import { conditionsOf, type Policy } from '../../policy/policy.js'
import { TOKEN_CALLS, type TokenFunction } from '../../policy/token-calls.js'
import {
  and,
  atMost,
  below,
  equal,
  FALSE,
  int,
  isIn,
  ite,
  not,
  or,
  type Term,
  TRUE,
} from './smt.js'

/**
 * The finitely many forms of calldata that two policies can tell apart. Calls of one shape differ
 * only in numbers, which the solver chooses. Calldata that fits no signature of its selector is one
 * shape, because no condition tells such calls apart.
 */
export interface CallShape {
  /** False for a call by the wallet itself, true for an intent whose gas the service pays. */
  readonly isSponsored: boolean
  /** Null for one to three bytes of calldata. */
  readonly selector: Selector | null
  /** The signature that the words fit; null without one. */
  readonly signature: FunctionSignature | null
  readonly signatureText: string | null
  /** The meaning for a token, if it is a token's function. */
  readonly token: TokenFunction | null
}

/** What leaves the wallet, if the call shows it. */
export interface MovedTerm {
  readonly isThere: Term
  /** Null for the native currency. */
  readonly token: Term | null
  readonly amount: Term
}

interface PaidTerm {
  readonly isThere: Term
  readonly address: Term
  /** True when the wallet has paid it before. */
  readonly isKnown: Term
}

const ADDRESS_MAX = 2n ** 160n - 1n
export const NATIVE_IN = 'nativeIn'
export const OPERATION = 'operation'
export const CHAIN = 'chain'
export const CALLEE = 'callee'
export const VALUE = 'value'
export const TOKEN_IN = 'tokenIn'
export const AMOUNT_IN = 'amountIn'
export const TOKEN_OUT = 'tokenOut'
export const NATIVE_OUT = 'nativeOut'

const TOKEN_SIGNATURES = Object.entries(TOKEN_CALLS).flatMap(([text, token]) => {
  const signature = parseSignature(text)
  return signature === null ? [] : [{ text, signature, token }]
})

export function shapesOf(policies: readonly Policy[]): CallShape[] {
  const shapes: Omit<CallShape, 'isSponsored'>[] = []
  const none = { signature: null, signatureText: null, token: null }
  const named = namedSelectors(policies)
  for (const selector of [...named, unnamed(named), null, 'native'] as const) {
    // Empty calldata fits only `native`; calldata with arguments can also be cut short.
    shapes.push({ ...none, selector })
  }
  for (const [text, signature] of namedSignatures(policies)) {
    const { selector } = signature
    const token = TOKEN_SIGNATURES.find((one) => one.text === text)?.token ?? null
    shapes.push({ selector, signature, signatureText: text, token })
  }
  return [false, true].flatMap((isSponsored) => shapes.map((shape) => ({ ...shape, isSponsored })))
}

function namedSignatures(policies: readonly Policy[]): ReadonlyMap<string, FunctionSignature> {
  const found = new Map(TOKEN_SIGNATURES.map(({ text, signature }) => [text, signature]))
  for (const text of namedFunctions(policies)) {
    const signature = parseSignature(text)
    if (signature !== null) found.set(text, signature)
  }
  return found
}

function namedSelectors(policies: readonly Policy[]): ReadonlySet<Selector> {
  const found = new Set<Selector>()
  for (const { selector } of namedSignatures(policies).values()) found.add(selector)
  for (const text of namedFunctions(policies)) {
    if (parseSignature(text) === null && text !== 'native') found.add(text as Selector)
  }
  return found
}

/** Returns a selector that neither policy names. */
function unnamed(named: ReadonlySet<Selector>): Selector {
  for (let number = 0x5a5a5a5a; ; number++) {
    const selector: Selector = `0x${number.toString(16)}`
    if (!named.has(selector)) return selector
  }
}

function* namedFunctions(policies: readonly Policy[]): Generator<string> {
  for (const policy of policies)
    for (const { functions = [] } of conditionsOf(policy)) yield* functions
}

export function wordName(at: number): Term {
  return `word${at}`
}

/** Returns every variable of a call, for `declare-const`. */
export function callVariables(shapes: readonly CallShape[]): ReadonlyMap<Term, 'Int' | 'Bool'> {
  const words = Math.max(0, ...shapes.map(({ signature }) => signature?.head.length ?? 0))
  return new Map<Term, 'Int' | 'Bool'>([
    ...[OPERATION, CHAIN, CALLEE, VALUE].map((name) => [name, 'Int'] as const),
    ...[TOKEN_IN, AMOUNT_IN, TOKEN_OUT].map((name) => [name, 'Int'] as const),
    ...[NATIVE_IN, NATIVE_OUT, 'paidCallee', 'paidPayee'].map((name) => [name, 'Bool'] as const),
    ...Array.from({ length: words }, (_, at) => [wordName(at), 'Int'] as const),
  ])
}

/** Returns the constraints of the shape's calls. */
export function shapeTerms(shape: CallShape): Term {
  const { isSponsored, signature, token } = shape
  const head = signature?.head ?? []
  const payee = token === null ? null : wordName(token.payee)
  return and(
    isIn(CHAIN, CHAIN_IDS),
    between(CALLEE, 0n, ADDRESS_MAX),
    between(VALUE, 0n, UINT256_MAX),
    between(AMOUNT_IN, 0n, UINT256_MAX),
    between(TOKEN_IN, 0n, ADDRESS_MAX),
    `(distinct ${TOKEN_IN} ${int(BigInt(NATIVE_ADDRESS))})`,
    between(TOKEN_OUT, 0n, ADDRESS_MAX),
    `(distinct ${TOKEN_OUT} ${int(BigInt(NATIVE_ADDRESS))})`,
    // Here the venue's call decides; for other operations the intent's terms do.
    onlyIf('defi_deposit', and(not(NATIVE_OUT), equal(TOKEN_OUT, CALLEE))),
    onlyIf('gas_swap', NATIVE_OUT),
    isSponsored ? between(OPERATION, 1n, 4n) : equal(OPERATION, '0'),
    isSponsored ? equal(VALUE, ite(NATIVE_IN, AMOUNT_IN, '0')) : TRUE,
    payee === null ? TRUE : or(`(distinct ${payee} ${CALLEE})`, '(= paidPayee paidCallee)'),
    ...head.map((word, at) => (word === null ? TRUE : within(wordName(at), word))),
  )
}

function onlyIf(operation: Operation, term: Term): Term {
  return or(not(equal(OPERATION, int(OPERATIONS.indexOf(operation)))), term)
}

function within(name: Term, word: Word): Term {
  switch (word.kind) {
    case 'address':
      return between(name, 0n, ADDRESS_MAX)
    case 'bool':
      return between(name, 0n, 1n)
    case 'bytes':
      return between(name, 0n, 2n ** BigInt(word.size * 8) - 1n)
    case 'uint':
      return between(name, 0n, 2n ** BigInt(word.bits) - 1n)
    case 'int':
      return between(name, -(2n ** BigInt(word.bits - 1)), 2n ** BigInt(word.bits - 1) - 1n)
  }
}

function between(name: Term, least: bigint, most: bigint): Term {
  return and(atMost(int(least), name), atMost(name, int(most)))
}

/** Matches `showCall` and `showIntent`; null when the call does not show its moves. */
export function movesOf({ isSponsored, selector, token }: CallShape): readonly MovedTerm[] | null {
  if (isSponsored) {
    return [
      { isThere: NATIVE_IN, token: null, amount: AMOUNT_IN },
      { isThere: `(not ${NATIVE_IN})`, token: TOKEN_IN, amount: AMOUNT_IN },
    ]
  }
  const native = { isThere: below('0', VALUE), token: null, amount: VALUE }
  if (selector === 'native') return [native]
  if (token === null) return null
  const amount =
    typeof token.amount === 'number'
      ? wordName(token.amount)
      : ite(equal(wordName(token.amount.flag), '0'), '0', int(UINT256_MAX))
  return [{ isThere: TRUE, token: CALLEE, amount }, native]
}

export function paidBy({ isSponsored, selector, token }: CallShape): readonly PaidTerm[] | null {
  if (isSponsored) return null
  const callee = { address: CALLEE, isKnown: 'paidCallee' }
  if (selector === 'native') return [{ ...callee, isThere: TRUE }]
  if (token === null) return null
  return [
    { address: wordName(token.payee), isKnown: 'paidPayee', isThere: TRUE },
    { ...callee, isThere: below('0', VALUE) },
  ]
}

/** Tells whether the call gives the wallet one of these; null when it does not show that. */
export function givesOneOf(
  { isSponsored, selector, token }: CallShape,
  tokens: readonly Token[],
): Term | null {
  if (!isSponsored) return selector === 'native' || token !== null ? FALSE : null
  const addresses = tokens.flatMap((one) => (one === 'native' ? [] : [BigInt(one)]))
  const isListed = and(not(NATIVE_OUT), isIn(TOKEN_OUT, addresses))
  return tokens.includes('native') ? or(NATIVE_OUT, isListed) : isListed
}

/** Tells whether native value is sent together with a token. */
export function mixesNative({ isSponsored, token }: CallShape): Term {
  return isSponsored || token === null ? FALSE : below('0', VALUE)
}
