import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { CallShown } from '../../src/policy/call-shown.js'
import type { Facts } from '../../src/policy/condition.js'
import { liesWithin, policyEnlarges } from '../../src/policy/enlarges.js'
import { compilePolicy, judge } from '../../src/policy/judge-policy.js'
import { EFFECTS, type Policy, type When } from '../../src/policy/policy.js'
import { CALL, FACTS, FLAT_WHEN, PAYEES, policyOf, USDC } from './random-policies.js'

const RUNS = Number(process.env.POLICY_RUNS ?? 3_000)
const [ALICE = USDC, BOB = USDC] = PAYEES
const TRANSFER = 'transfer(address,uint256)'

type Bounds = readonly [narrow: object, wide: object]

/** Of each condition what matches fewer calls, and what matches all of those and others. */
const CONDITIONS: Readonly<Record<Exclude<keyof When, 'not'>, readonly Bounds[]>> = {
  operations: [[{ operations: ['swap'] }, { operations: ['swap', 'gas_swap'] }]],
  chains: [[{ chains: [1] }, { chains: [1, 8453] }]],
  to: [[{ to: [ALICE] }, { to: [ALICE, BOB] }]],
  functions: [[{ functions: [TRANSFER] }, { functions: [TRANSFER, 'native'] }]],
  arguments: [
    [
      { functions: [TRANSFER], arguments: [{ index: 1, op: 'lte', value: '5' }] },
      { functions: [TRANSFER] },
    ],
  ],
  beneficiaries: [[{ beneficiaries: [ALICE] }, { beneficiaries: [ALICE, BOB] }]],
  valueNativeLte: [[{ value_native_lte: '5' }, { value_native_lte: '6' }]],
  valueNativeGt: [[{ value_native_gt: '6' }, { value_native_gt: '5' }]],
  amounts: [
    [{ amounts: [{ token: USDC, lte: '5' }] }, { amounts: [{ token: USDC, lte: '6' }] }],
    [{ amounts: [{ token: USDC, gt: '6' }] }, { amounts: [{ token: USDC, gt: '5' }] }],
  ],
  spendUsdLte: [[{ spend_usd_lte: '5.00' }, { spend_usd_lte: '6.00' }]],
  spendUsdGt: [[{ spend_usd_gt: '6.00' }, { spend_usd_gt: '5.00' }]],
  newBeneficiary: [[{ chains: [1], new_beneficiary: true }, { chains: [1] }]],
  count: [[{ count: { per_seconds: 60, gt: 6 } }, { count: { per_seconds: 60, gt: 5 } }]],
  sumUsd: [
    [{ sum_usd: { per_seconds: 60, gt: '6.00' } }, { sum_usd: { per_seconds: 60, gt: '5.00' } }],
  ],
  tokenOut: [[{ token_out: [USDC] }, { token_out: [USDC, 'native'] }]],
  utcHours: [[{ chains: [1], utc_hours: [{ from: '08:00', to: '17:00' }] }, { chains: [1] }]],
}

const ROWS = Object.entries(CONDITIONS).flatMap(([name, pairs]) =>
  pairs.map(([narrow, wide]) => [name, narrow, wide] as const),
)

const withRule = (effect: string, when: object, fallback: string) =>
  policyOf({ rules: [{ name: 'rule', effect, when }], default: fallback })
const whenOf = (when: object) => withRule('deny', when, 'allow').rules[0]?.when ?? {}

/** An exception (`not`) turns the order round: a narrower exception leaves more. */
const exceptOf = (when: object) => ({ not: when })

describe.each(ROWS)('a bound of %s', (_, narrow, wide) => {
  test('lies within a wider one, and not the other way round', () => {
    expect(liesWithin(whenOf(narrow), whenOf(wide))).toBe(true)
    expect(liesWithin(whenOf(wide), whenOf(narrow))).toBe(false)
    expect(liesWithin(whenOf(narrow), {})).toBe(true)
    expect(liesWithin({}, whenOf(narrow))).toBe(false)
  })

  test('that is excepted lies within a narrower exception, and not the other way round', () => {
    expect(liesWithin(whenOf(exceptOf(wide)), whenOf(exceptOf(narrow)))).toBe(true)
    expect(liesWithin(whenOf(exceptOf(narrow)), whenOf(exceptOf(wide)))).toBe(false)
    expect(liesWithin(whenOf(exceptOf(narrow)), {})).toBe(true)
    expect(liesWithin({}, whenOf(exceptOf(narrow)))).toBe(false)
  })

  test('enlarges a key where it lets through more, or excepts less from what it lets through', () => {
    const allowing = (when: object) => withRule('allow', when, 'deny')
    expect(policyEnlarges(allowing(narrow), allowing(wide))).toBe(true)
    expect(policyEnlarges(allowing(wide), allowing(narrow))).toBe(false)
    expect(policyEnlarges(allowing(exceptOf(wide)), allowing(exceptOf(narrow)))).toBe(true)
    expect(policyEnlarges(allowing(exceptOf(narrow)), allowing(exceptOf(wide)))).toBe(false)
  })

  test.each(['deny', 'require_approval'])(
    'enlarges a key where less meets a rule with %s, or more is excepted from it',
    (effect) => {
      const refusing = (when: object) => withRule(effect, when, 'allow')
      expect(policyEnlarges(refusing(wide), refusing(narrow))).toBe(true)
      expect(policyEnlarges(refusing(narrow), refusing(wide))).toBe(false)
      expect(policyEnlarges(refusing(exceptOf(narrow)), refusing(exceptOf(wide)))).toBe(true)
      expect(policyEnlarges(refusing(exceptOf(wide)), refusing(exceptOf(narrow)))).toBe(false)
    },
  )
})

/** Of which one often lies within the other. */
const PAIR = fc
  .tuple(FLAT_WHEN, FLAT_WHEN, fc.boolean())
  .map(([one, other, adds]) => {
    const isOfArguments = 'arguments' in one || 'arguments' in other
    return adds && !isOfArguments ? [one, { ...one, ...other }] : [one, other]
  })
  .filter(([one, other]) => [one, other].every((when) => Object.keys(when ?? {}).length > 0))

describe('for any two exceptions and any call', () => {
  const passage = (policy: Policy, call: CallShown, facts: Facts) =>
    EFFECTS.indexOf(judge(compilePolicy(policy), call, facts).effect)

  test.each([
    ['allow', 'deny'],
    ['deny', 'allow'],
    ['require_approval', 'allow'],
  ])('a rule with %s that is proved no wider lets through nothing new', (effect, fallback) => {
    let proved = 0
    fc.assert(
      fc.property(PAIR, fc.boolean(), CALL, FACTS, ([one, other], turned, call, facts) => {
        const [before, next] = [one, other].map((not) => withRule(effect, { not }, fallback))
        if (before === undefined || next === undefined) throw new Error('two are drawn')
        const [from, to] = turned ? [next, before] : [before, next]
        if (policyEnlarges(from, to)) return
        proved += 1
        expect(passage(to, call, facts)).toBeLessThanOrEqual(passage(from, call, facts))
      }),
      { numRuns: RUNS },
    )
    expect(proved).toBeGreaterThan(RUNS / 20)
  })
})
