import type { Address, Hex } from '../../domain/ids.js'
import { type CallShown, NATIVE_ADDRESS, showCall, showIntent } from '../../policy/call-shown.js'
import { OPERATIONS } from '../../policy/call-terms.js'
import type { Word } from '../../policy/function-signature.js'
import { compilePolicy } from '../../policy/judge-policy.js'
import {
  type CeilingKey,
  type Circumstances,
  type Example,
  isFreer,
  judgeOf,
  MINUTE_MS,
  MONDAY_MS,
  usedName,
} from '../../policy/judged-call.js'
import type { Ceiling, Policy } from '../../policy/policy.js'
import {
  AMOUNT_IN,
  CALLEE,
  type CallShape,
  CHAIN,
  NATIVE_IN,
  NATIVE_OUT,
  OPERATION,
  TOKEN_IN,
  TOKEN_OUT,
  VALUE,
  wordName,
} from './call-shape.js'
import { countName, IS_UNPRICED, LOSS, MINUTE, SPEND, sumName } from './when-terms.js'

type Values = ReadonlyMap<string, bigint>
type Two<T> = { readonly before: T; readonly next: T }

/** @throws Error when the judge does not confirm what the solver found */
export function exampleOf(
  shape: CallShape,
  values: Values,
  policies: Two<Policy | null>,
  ceilings: readonly Ceiling[],
  said: Two<readonly string[]>,
): Example {
  const call = callOf(shape, values)
  const circumstances = circumstancesOf(call, values, policies, ceilings)
  const judged = {
    before: judgeOf(policies.before)(call, circumstances),
    next: judgeOf(policies.next)(call, circumstances),
  }
  const isSame = (['before', 'next'] as const).every((which) => {
    const name = which === 'before' ? 'by_before' : 'by_next'
    return judged[which].by === said[which][Number(values.get(name) ?? 0n)]
  })
  if (!isSame || !isFreer(judged.before, judged.next)) {
    throw new Error(`the judge sees no difference in what the solver found: ${call.data}`)
  }
  return { call, circumstances, ...judged }
}

function callOf(shape: CallShape, values: Values): CallShown {
  const numberOf = (name: string) => values.get(name) ?? 0n
  const operation = OPERATIONS[Number(numberOf(OPERATION))] ?? 'send'
  const chainId = Number(numberOf(CHAIN))
  const to = addressOf(numberOf(CALLEE))
  const data = dataOf(shape, values)
  if (!shape.isSponsored) return showCall({ operation, chainId, to, value: numberOf(VALUE), data })
  const tokenIn = numberOf(NATIVE_IN) === 1n ? NATIVE_ADDRESS : addressOf(numberOf(TOKEN_IN))
  const tokenOut = numberOf(NATIVE_OUT) === 1n ? NATIVE_ADDRESS : addressOf(numberOf(TOKEN_OUT))
  const terms = { tokenIn, tokenOut, amountIn: numberOf(AMOUNT_IN), target: to, data } as const
  return showIntent(operation, chainId, terms)
}

function dataOf({ selector, signature }: CallShape, values: Values): Hex {
  if (selector === 'native') return '0x'
  if (selector === null) return '0x00'
  // One byte that fits no signature.
  if (signature === null) return `${selector}00`
  const words = signature.head.map((word, at) =>
    word === null ? ''.padEnd(64, '0') : digitsOf(values.get(wordName(at)) ?? 0n, word),
  )
  return `${selector}${words.join('')}`
}

function digitsOf(value: bigint, word: Word): string {
  if (word.kind === 'bytes') {
    return value
      .toString(16)
      .padStart(word.size * 2, '0')
      .padEnd(64, '0')
  }
  return BigInt.asUintN(256, value).toString(16).padStart(64, '0')
}

function addressOf(value: bigint): Address {
  return `0x${value.toString(16).padStart(40, '0')}`
}

function circumstancesOf(
  call: CallShown,
  values: Values,
  { before, next }: Two<Policy | null>,
  ceilings: readonly CeilingKey[],
): Circumstances {
  const numberOf = (name: string) => values.get(name) ?? 0n
  const counted = new Map<number, { count: number; micros: bigint }>()
  for (const policy of [before, next]) {
    for (const perSeconds of policy === null ? [] : compilePolicy(policy).windows) {
      const count = Number(numberOf(countName(perSeconds)))
      counted.set(perSeconds, { count, micros: numberOf(sumName(perSeconds)) })
    }
  }
  const [payee, ...others] = call.beneficiaries ?? []
  const isCallee = others.length === 0 && payee === call.callee && call.selector === 'native'
  const known = isCallee ? 'paidCallee' : 'paidPayee'
  const paid = [
    ...(payee !== undefined && numberOf(known) === 1n ? [payee] : []),
    ...(numberOf('paidCallee') === 1n ? others : []),
  ]
  return {
    nowMs: MONDAY_MS + Number(numberOf(MINUTE)) * MINUTE_MS,
    spendMicros: numberOf(IS_UNPRICED) === 1n ? null : numberOf(SPEND),
    paid,
    counted,
    lossBps: Number(numberOf(LOSS)),
    used: new Map(ceilings.map((one) => [usedName(one), numberOf(usedName(one))])),
  }
}
