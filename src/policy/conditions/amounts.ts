import type { Token } from '../call-terms.js'
import {
  CANNOT_BE_JUDGED,
  type Condition,
  FAILS,
  numeric,
  type Truth,
  truth,
  UNJUDGEABLE,
  values,
} from '../condition.js'
import type { Faults } from '../json-reader.js'
import { readToken, readUint } from '../parse-values.js'
import { sorted } from '../policy-json.js'
import { around, type Point, PROPERTIES, TRANSFER } from '../sampled-call.js'
import { AMOUNT, listForm, optional, TOKEN } from '../wire-form.js'
import { tokenText } from '../word-forms.js'
import type { ConditionRow, OtherConditions } from './row.js'

/** A bound on what a call moves or lets others take, in smallest units. */
export interface AmountTest {
  readonly token: Token
  readonly lte: bigint | null
  readonly gt: bigint | null
}

const AMOUNTS_MAX = 32

export const amountsRow: ConditionRow<readonly AmountTest[]> = {
  wire: 'amounts',
  form: listForm(
    { kind: 'fields', fields: { token: TOKEN, lte: optional(AMOUNT), gt: optional(AMOUNT) } },
    'amounts of a transfer or an allowance of a listed token',
  ),
  read: readAmounts,
  write: (tests) =>
    tests.map(({ token, lte, gt }) => sorted({ token, lte: lte?.toString(), gt: gt?.toString() })),
  words: (tests) => tests.map(describeAmount).join(' or '),
  compile: amountsCondition,
  liesWithin: amountsWithin,
  tokens: (tests) => tests.map(({ token }) => token),
  sample: {
    of: 'amount',
    values: (tests) =>
      tests.flatMap(({ token, lte, gt }) =>
        [lte, gt].flatMap((bound) =>
          bound === null ? [] : around(bound).map((amount) => ({ token, amount })),
        ),
      ),
    meet: meetingFirst,
  },
}

function readAmounts(value: unknown, path: string, faults: Faults): AmountTest[] | null {
  const byToken = new Map<string, AmountTest>()
  const list = faults.list(value, path, { min: 1, max: AMOUNTS_MAX }, (element, at) => {
    const object = faults.object(element, at, ['token', 'lte', 'gt'])
    if (object === null) return null
    const token = readToken(object.token, `${at}.token`, faults)
    const lte = object.lte === undefined ? null : readUint(object.lte, `${at}.lte`, faults)
    const gt = object.gt === undefined ? null : readUint(object.gt, `${at}.gt`, faults)
    if (object.lte === undefined && object.gt === undefined) {
      return faults.report(at, 'must have lte or gt')
    }
    if (token === null) return null
    const known = byToken.get(token)
    if ((known?.lte ?? null) !== null && lte !== null) return faults.report(at, 'repeats lte')
    if ((known?.gt ?? null) !== null && gt !== null) return faults.report(at, 'repeats gt')
    byToken.set(token, { token, lte: lte ?? known?.lte ?? null, gt: gt ?? known?.gt ?? null })
    return token
  })
  if (list === null) return null
  return [...byToken.values()].sort((a, b) => (a.token < b.token ? -1 : 1))
}

function describeAmount({ token, lte, gt }: AmountTest): string {
  const bounds = [lte === null ? [] : `at most ${lte}`, gt === null ? [] : `more than ${gt}`]
  return `that move ${bounds.flat().join(' and ')} of ${tokenText(token)}`
}

/**
 * The tests must list the same tokens, because native value that goes along is judged by what is
 * listed.
 */
function amountsWithin(inner: readonly AmountTest[], outer: readonly AmountTest[]): boolean {
  if (inner.length !== outer.length) return false
  return outer.every((bound) => {
    const one = inner.find(({ token }) => token === bound.token)
    if (one === undefined) return false
    const isBelow = bound.lte === null || (one.lte !== null && one.lte <= bound.lte)
    return isBelow && (bound.gt === null || (one.gt !== null && one.gt >= bound.gt))
  })
}

/**
 * Holds when the call moves a listed token within every bound for it. A token and native value that
 * goes along are each compared with their own bounds: when they differ, or when the native value is
 * not listed, the result is unknown. So one extra wei takes nothing out of a denial.
 */
function amountsCondition(tests: readonly AmountTest[]): Condition {
  const listsNative = tests.some(({ token }) => token === 'native')
  const only = onlyBound(tests)
  return {
    field: 'amounts',
    ...(only === null ? values(tests.map(boundText).join(', ')) : numeric(String(only))),
    heals: null,
    test({ moves, value }) {
      if (moves === null) return UNJUDGEABLE
      if (value > 0n && moves.length > 1 && !listsNative) return UNJUDGEABLE
      let all: Truth | null = null
      for (const { token, lte, gt } of tests) {
        for (const move of moves) {
          if (move.token !== token) continue
          const breaks = (lte !== null && move.amount > lte) || (gt !== null && move.amount <= gt)
          const one = truth(!breaks)
          all = all === null || all === one ? one : UNJUDGEABLE
        }
      }
      return all ?? FAILS
    },
    observed: ({ moves }) =>
      moves === null
        ? CANNOT_BE_JUDGED
        : only !== null && moves.length === 1 && moves[0]?.token === tests[0]?.token
          ? String(moves[0]?.amount)
          : moves.map(({ token, amount }) => `${amount} of ${token}`).join(', ') || 'nothing',
  }
}

/** The only number that it bounds, if there is exactly one. */
function onlyBound(tests: readonly AmountTest[]): bigint | null {
  const [test] = tests
  if (test === undefined || tests.length > 1) return null
  if (test.lte !== null && test.gt !== null) return null
  return test.lte ?? test.gt
}

function boundText({ token, lte, gt }: AmountTest): string {
  const bounds = [lte === null ? [] : `at most ${lte}`, gt === null ? [] : `more than ${gt}`]
  return `${bounds.flat().join(' and ')} of ${token}`
}

function meetingFirst(
  point: Point,
  [test]: readonly AmountTest[],
  { functions }: OtherConditions,
): Point {
  if (test === undefined) return point
  const { token, lte, gt } = test
  const isTransfer = functions === undefined && token !== 'native'
  const called = isTransfer ? TRANSFER : point.called
  return PROPERTIES.amount.give({ ...point, called }, { token, amount: lte ?? (gt ?? 0n) + 1n })
}
