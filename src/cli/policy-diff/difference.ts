import { SWAP_LOSS_BPS_MAX } from '../../policy/bounds.js'
import { type CeilingKey, type Example, usedName } from '../../policy/judged-call.js'
import { type Policy, windowsOf } from '../../policy/policy.js'
import { callVariables, OPERATION, shapesOf, shapeTerms, VALUE } from './call-shape.js'
import { exampleOf } from './example.js'
import { deciders, isFreer, policyTerms } from './policy-terms.js'
import {
  and,
  assertion,
  atMost,
  definition,
  equal,
  int,
  not,
  or,
  readModel,
  type Term,
  TRUE,
} from './smt.js'
import type { Solver } from './solver.js'
import { countName, IS_UNPRICED, LOSS, MINUTE, SPEND, sumName } from './when-terms.js'

/**
 * What a policy allows that the previous one did not: one call for each pair of deciding rules,
 * with the history that it needs. The solver decides each shape exactly, so no example means that
 * there is no difference.
 */
export interface Difference {
  readonly examples: readonly Example[]
  /** False when there are more than `EXAMPLES_MAX` pairs. */
  readonly isWhole: boolean
}

/** More than people read before they sign. */
const EXAMPLES_MAX = 12
const WEEK_MINUTES = 7 * 1_440
const USD_MICROS = 1_000_000

/** Preferred properties of examples: a small amount, at noon on a Monday, without history. */
const USUAL: readonly Term[] = [
  and(not(IS_UNPRICED), atMost(SPEND, int(1_000 * USD_MICROS))),
  equal(MINUTE, '720'),
  equal(VALUE, '0'),
  '(not (or paidPayee paidCallee))',
  equal(OPERATION, '0'),
  equal(LOSS, '0'),
]
const SHAPE = 'shape'
const BY_BEFORE = 'by_before'
const BY_NEXT = 'by_next'

/** @throws Error when the solver finds no answer in time */
export async function differenceOf(
  solver: Solver,
  before: Policy | null,
  next: Policy | null,
): Promise<Difference> {
  const policies = [before, next].filter((policy) => policy !== null)
  const shapes = shapesOf(policies)
  const history = historyOf(policies)
  const declared = [
    ...[...callVariables(shapes), ...history.variables],
    ...[BY_BEFORE, BY_NEXT, SHAPE].map((name) => [name, 'Int'] as const),
  ]
    .map(([name, sort]) => `(declare-const ${name} ${sort})`)
    .join('\n')
  const ask = (...lines: readonly string[]) => solver.assert(lines.join('\n'))
  const ceilings = policies.flatMap((policy) => policy.ceilings)
  const said = { before: deciders(before), next: deciders(next) }
  const terms = shapes.map((shape, at) => ({
    ...{ shape, before: policyTerms(before, shape, `before${at}`) },
    next: policyTerms(next, shape, `next${at}`),
  }))
  const cases = terms.map(({ shape, before, next }, at) =>
    and(
      ...[equal(SHAPE, int(at)), shapeTerms(shape), isFreer(before, next)],
      ...[equal(BY_BEFORE, before.by), equal(BY_NEXT, next.by)],
    ),
  )
  solver.reset()
  ask(
    declared,
    ...terms.flatMap(({ before, next }) =>
      [...before.definitions, ...next.definitions].map(definition),
    ),
    assertion(and(history.holds, or(...cases))),
  )
  const examples: Example[] = []
  while (await solver.isPossible()) {
    if (examples.length === EXAMPLES_MAX) return { examples, isWhole: false }
    const values = await usualModel(solver, ask, [history.usual, ...USUAL])
    const shape = shapes[Number(values.get(SHAPE) ?? 0n)]
    if (shape === undefined) throw new Error('the solver found a call of no shape')
    examples.push(exampleOf(shape, values, { before, next }, ceilings, said))
    const pair = [BY_BEFORE, BY_NEXT].map((name) => equal(name, int(values.get(name) ?? 0n)))
    ask(assertion(not(and(...pair))))
  }
  return { examples, isWhole: true }
}

/** Finds a model that satisfies as many preferences as possible, usually all of them. */
async function usualModel(
  solver: Solver,
  ask: (...lines: readonly string[]) => void,
  wishes: readonly Term[],
): Promise<ReadonlyMap<string, bigint>> {
  let model = solver.model()
  const isKept = async (wish: Term) => {
    solver.push()
    ask(assertion(wish))
    const isPossible = await solver.isPossible()
    if (isPossible) model = solver.model()
    solver.pop()
    return isPossible
  }
  if (await isKept(and(...wishes))) return readModel(model)
  let kept: Term = TRUE
  for (const wish of wishes) if (await isKept(and(kept, wish))) kept = and(kept, wish)
  return readModel(model)
}

/** Returns the history before a call, as far as the policies use it. */
function historyOf(policies: readonly Policy[]) {
  const windows = [...new Set(policies.flatMap(windowsOf))].sort((a, b) => a - b)
  const used = new Map<Term, CeilingKey>(
    policies.flatMap(({ ceilings }) => ceilings.map((one) => [usedName(one), one] as const)),
  )
  const counted = windows.flatMap((seconds) => [countName(seconds), sumName(seconds)])
  const numbers = [SPEND, MINUTE, LOSS, ...counted, ...used.keys()]
  return {
    variables: [...numbers.map((name) => [name, 'Int'] as const), [IS_UNPRICED, 'Bool'] as const],
    holds: and(
      ...numbers.map((name) => atMost('0', name)),
      `(< ${MINUTE} ${WEEK_MINUTES})`,
      atMost(LOSS, int(SWAP_LOSS_BPS_MAX)),
      ...windows.map((seconds) => `(=> (= ${countName(seconds)} 0) (= ${sumName(seconds)} 0))`),
      // A count within one window is also within every longer one.
      ...windows.slice(1).flatMap((seconds, at) => {
        const shorter = windows[at] ?? seconds
        return [
          atMost(countName(shorter), countName(seconds)),
          atMost(sumName(shorter), sumName(seconds)),
        ]
      }),
      ...[...used.values()].flatMap((ceiling) => {
        const monthly = usedName({ ...ceiling, per: 'month' })
        return used.has(monthly) ? [atMost(usedName(ceiling), monthly)] : []
      }),
    ),
    usual: and(...[...counted, ...used.keys()].map((name) => equal(name, '0'))),
  }
}
