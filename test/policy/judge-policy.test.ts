import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { approvalAsked } from '../../src/policy/approval-asked.js'
import { type CallShown, showCall } from '../../src/policy/call-shown.js'
import { commonPolicy } from '../../src/policy/common-policy.js'
import { ELSEWHERE, type Facts } from '../../src/policy/condition.js'
import { policyEnlarges } from '../../src/policy/enlarges.js'
import { compilePolicy, explain, judge, retryAt } from '../../src/policy/judge-policy.js'
import { EFFECTS, maxSwapLossBpsOf, type Policy } from '../../src/policy/policy.js'
import {
  CALL,
  FACTS,
  PAYEES,
  POLICY,
  policyOf,
  transferData,
  USDC,
  word,
} from './random-policies.js'

const RUNS = Number(process.env.POLICY_RUNS ?? 3_000)
const MONDAY_NOON = Date.UTC(2026, 0, 5, 12)
const [ALICE = '0x', BOB = '0x'] = PAYEES

const KNOWN: Facts = {
  nowMs: MONDAY_NOON,
  spendMicros: 10_000_000n,
  hasPaid: () => true,
  within: () => ({ count: 0, micros: 0n }),
  countsUsd: true,
}

const transfer = (amount: bigint, to = ALICE) =>
  showCall({
    ...{ operation: 'send', chainId: 8453, to: USDC, value: 0n },
    data: transferData(to, amount),
  })

function verdictOn(json: object, call = transfer(5n), facts = KNOWN) {
  const compiled = compilePolicy(policyOf({ default: 'deny', ...json }))
  const verdict = judge(compiled, call, facts)
  const denial = verdict.effect === 'allow' ? null : explain(compiled, verdict, call, facts)
  return { effect: verdict.effect, denial }
}

const rule = (effect: string, when: object, more: object = {}) => ({
  ...{ name: `${effect} it`, effect, when },
  ...more,
})

describe('precedence', () => {
  test('a denial wins over an approval, and an approval over an allowance', () => {
    const [allow, ask, deny] = [rule('allow', {}), rule('require_approval', {}), rule('deny', {})]
    expect(verdictOn({ rules: [allow, ask, deny] }).effect).toBe('deny')
    expect(verdictOn({ rules: [allow, ask] }).effect).toBe('require_approval')
    expect(verdictOn({ rules: [allow] }).effect).toBe('allow')
  })

  test('the default says what no rule matches', () => {
    const rules = [rule('allow', { chains: [1] })]
    expect(verdictOn({ rules }).effect).toBe('deny')
    expect(verdictOn({ rules, default: 'allow' }).effect).toBe('allow')
  })

  test('a call that must wait is not let through at once', () => {
    const rules = [rule('allow', {}, { delay_seconds: 60 })]
    expect(verdictOn({ rules, default: 'allow' }).effect).toBe('require_approval')
  })
})

describe('what cannot be judged', () => {
  const unpriced = { ...KNOWN, spendMicros: null }
  const unreadable = showCall({
    ...{ operation: 'send', chainId: 8453, to: USDC, value: 0n, data: '0xac9650d8' },
  })

  test('never allows, and denies or asks', () => {
    const when = { spend_usd_lte: '1000' }
    expect(verdictOn({ rules: [rule('allow', when)] }, transfer(5n), unpriced).effect).toBe('deny')
    const rules = [rule('deny', { spend_usd_gt: '1000' })]
    expect(verdictOn({ rules, default: 'allow' }, transfer(5n), unpriced).effect).toBe('deny')
    const asks = [rule('require_approval', { beneficiaries: [BOB] })]
    const asked = verdictOn({ rules: asks, default: 'allow' }, unreadable)
    expect(asked.effect).toBe('require_approval')
  })

  test('is whom a call pays where it pays some of a list and others: a wei to the token hides no payee', () => {
    const beside = showCall({
      ...{ operation: 'send', chainId: 8453, to: USDC, value: 1n },
      data: transferData(BOB, 5n),
    })
    const listed = { beneficiaries: [BOB] }
    const denied = { rules: [rule('deny', listed)], default: 'allow' }
    expect(verdictOn(denied, transfer(5n, BOB)).effect).toBe('deny')
    expect(verdictOn(denied, beside).effect).toBe('deny')
    expect(verdictOn(denied).effect).toBe('allow')
    expect(verdictOn({ rules: [rule('allow', listed)] }, beside).effect).toBe('deny')
    expect(verdictOn({ rules: [rule('allow', { not: listed })] }, beside).effect).toBe('deny')
    expect(verdictOn({ rules: [rule('allow', { not: listed })] }).effect).toBe('allow')
    const both = { beneficiaries: [BOB, USDC] }
    expect(verdictOn({ rules: [rule('allow', both)] }, beside).effect).toBe('allow')
  })

  test('does not match a rule that another condition rules out', () => {
    const rules = [rule('deny', { spend_usd_gt: '1000', chains: [1] })]
    expect(verdictOn({ rules, default: 'allow' }, transfer(5n), unpriced).effect).toBe('allow')
  })

  test('a bound on one call refuses what has no price', () => {
    const policy = { per_transaction_usd: '500', default: 'allow' }
    const { effect, denial } = verdictOn(policy, transfer(5n), unpriced)
    expect([effect, denial?.rule]).toEqual(['deny', 'per_transaction_usd'])
  })

  test.each([
    ['dirty bits above an address', `0xa9059cbb${'1'.padStart(64, 'f')}${word(1n)}`],
    ['a short word', `0xa9059cbb${word(ALICE)}${word(1n).slice(2)}`],
    ['a word too few', `0xa9059cbb${word(ALICE)}`],
    ['bytes behind', `${transferData(ALICE, 1n)}00`],
    ['a word too many', `${transferData(ALICE, 1n)}${word(0n)}`],
  ] as const)('%s is never allowed by signature, payee or amount', (_, data) => {
    const dirty = showCall({
      ...{ operation: 'send', chainId: 8453, to: USDC, value: 0n },
      data: data as `0x${string}`,
    })
    const whens = [
      { functions: ['transfer(address,uint256)'] },
      { beneficiaries: PAYEES },
      { amounts: [{ token: USDC, lte: '100' }] },
      {
        functions: ['transfer(address,uint256)'],
        arguments: [{ index: 1, op: 'lte', value: '100' }],
      },
    ]
    for (const when of whens) {
      expect(verdictOn({ rules: [rule('allow', when)] }, dirty).effect).toBe('deny')
      const not = { rules: [rule('deny', { not: when })], default: 'allow' }
      expect(verdictOn(not, dirty).effect).toBe('deny')
    }
  })
})

describe('conditions', () => {
  test('an amount is read from a transfer, an approval, a permit and EIP-3009', () => {
    const rules = [rule('deny', { amounts: [{ token: USDC, gt: '100' }] })]
    const head = `${word(ALICE)}${word(BOB)}${word(101n)}`
    const calls = [
      transferData(ALICE, 101n),
      `0x095ea7b3${word(ALICE)}${word(101n)}`,
      `0x39509351${word(ALICE)}${word(101n)}`,
      `0x23b872dd${head}`,
      `0xd505accf${head}${word(1n)}${word(27n)}${word(1n)}${word(1n)}`,
      `0xe3ee160e${head}${word(0n)}${word(9n)}${word(1n)}${word(27n)}${word(1n)}${word(1n)}`,
    ] as const
    for (const data of calls) {
      const call = showCall({
        ...{ operation: 'send', chainId: 8453, to: USDC, value: 0n },
        data: data as `0x${string}`,
      })
      const { effect, denial } = verdictOn({ rules, default: 'allow' }, call)
      expect([effect, denial?.observed, denial?.permitted]).toEqual(['deny', '101', '100'])
    }
    expect(verdictOn({ rules, default: 'allow' }, transfer(100n)).effect).toBe('allow')
  })

  test('native value that goes along takes no token out of its bounds, and brings none in', () => {
    const amounts = [
      { token: USDC, gt: '100' },
      { token: 'native', gt: '7' },
    ]
    const isOver = (tokens: bigint, value: bigint) => {
      const data = transferData(ALICE, tokens)
      const call = showCall({ operation: 'send', chainId: 8453, to: USDC, value, data })
      const denies = { rules: [rule('deny', { amounts })], default: 'allow' }
      const allows = { rules: [rule('allow', { not: { amounts } })] }
      return [verdictOn(denies, call).effect, verdictOn(allows, call).effect]
    }
    expect(isOver(100n, 0n)).toEqual(['allow', 'allow'])
    expect(isOver(100n, 7n)).toEqual(['allow', 'allow'])
    expect(isOver(101n, 0n)).toEqual(['deny', 'deny'])
    expect(isOver(101n, 1n)).toEqual(['deny', 'deny'])
    expect(isOver(1n, 8n)).toEqual(['deny', 'deny'])
    expect(isOver(101n, 8n)).toEqual(['deny', 'deny'])
  })

  test('a count is reported with what is observed, what is permitted and when it heals', () => {
    const rules = [rule('deny', { count: { per_seconds: 60, gt: 2 } })]
    const facts = { ...KNOWN, within: () => ({ count: 2, micros: 0n }) }
    const { denial } = verdictOn({ rules, default: 'allow' }, transfer(1n), facts)
    expect(denial).toMatchObject({ rule: 'deny it', field: 'count', observed: '3', permitted: '2' })
    const at = retryAt(denial?.heals ?? null, MONDAY_NOON, () => MONDAY_NOON + 1_000)
    expect(at).toBe('2026-01-05T12:00:01.000Z')
  })

  test('hours end to the minute, cross midnight, and say when they change', () => {
    const day = [rule('allow', { utc_hours: [{ days: ['mon'], from: '08:00', to: '12:00' }] })]
    const before = { ...KNOWN, nowMs: MONDAY_NOON - 1 }
    expect(verdictOn({ rules: day }, transfer(1n), before).effect).toBe('allow')
    const { effect, denial } = verdictOn({ rules: day })
    expect([effect, denial?.field]).toEqual(['deny', 'utc_hours'])
    const next = retryAt(denial?.heals ?? null, MONDAY_NOON, () => null)
    expect(next).toBe('2026-01-12T08:00:00.000Z')
    const night = [rule('allow', { utc_hours: [{ days: ['mon'], from: '22:00', to: '06:00' }] })]
    const tuesday = { ...KNOWN, nowMs: Date.UTC(2026, 0, 6, 5, 59) }
    expect(verdictOn({ rules: night }, transfer(1n), tuesday).effect).toBe('allow')
    const monday = { ...KNOWN, nowMs: Date.UTC(2026, 0, 5, 5, 59) }
    expect(verdictOn({ rules: night }, transfer(1n), monday).effect).toBe('deny')
  })

  test('a refusal by default names what the nearest rule misses', () => {
    const rules = [
      rule('allow', { chains: [8453], beneficiaries: [BOB] }),
      { ...rule('allow', { chains: [1], beneficiaries: [BOB] }), name: 'farther' },
    ]
    const { denial } = verdictOn({ rules })
    expect(denial).toMatchObject({
      ...{ rule: 'default', field: 'beneficiaries', observed: ALICE, permitted: BOB },
    })
  })

  test('a denial of all but a list names the list', () => {
    const rules = [rule('deny', { not: { to: [BOB] } })]
    const { denial } = verdictOn({ rules, default: 'allow' })
    expect(denial).toMatchObject({ field: 'to', observed: USDC, permitted: BOB })
  })
})

test('to give people longer than the default does is more, and no longer is not', () => {
  const asking = (...rules: object[]) => policyOf({ default: 'require_approval', rules })
  const ask = (expires_seconds: number) =>
    rule('require_approval', {}, { approvals: { expires_seconds } })
  expect(policyEnlarges(asking(), asking(ask(3_601)))).toBe(true)
  expect(policyEnlarges(asking(), asking(ask(3_600)))).toBe(false)
  expect(policyEnlarges(asking(ask(7_200)), asking(ask(7_200)))).toBe(false)
  const wide = policyOf({ default: 'allow', rules: [ask(7_200)] })
  expect(commonPolicy(asking(), wide)).toMatchObject({
    ...{ fallback: 'require_approval', rules: [{ approvals: { expiresSeconds: 3_600 } }] },
  })
})

test('swaps that may lose more are more, also beside no policy, whose bound is the default', () => {
  const losing = (bps?: number | null) =>
    policyOf({ default: 'allow', ...(bps === undefined ? {} : { max_swap_loss_bps: bps }) })
  for (const [before, next] of [
    ...[
      [losing(), losing(501)],
      [losing(), losing(null)],
      [losing(100), losing()],
    ],
    ...[
      [losing(100), losing(101)],
      [null, losing(501)],
      [null, losing(null)],
    ],
    ...[[losing(499), null]],
  ] as const) {
    expect(policyEnlarges(before ?? null, next ?? null)).toBe(true)
  }
  for (const [before, next] of [
    ...[
      [losing(501), losing()],
      [losing(null), losing(10_000)],
      [losing(), losing(500)],
    ],
    ...[
      [null, losing()],
      [null, losing(0)],
      [losing(null), losing(null)],
    ],
  ] as const) {
    expect(policyEnlarges(before ?? null, next ?? null)).toBe(false)
  }
  expect(commonPolicy(null, losing(null))).toEqual(losing())
  expect(commonPolicy(losing(20), losing(null))).toEqual(losing(20))
  expect(policyEnlarges(losing(), policyOf({ default: 'deny', max_swap_loss_bps: null }))).toBe(
    false,
  )
})

const ASKS = EFFECTS.indexOf('require_approval')

// `npm run test:long -- policies` takes a hundred thousand of each.
describe('for any policy and call', { timeout: 21_600_000 }, () => {
  const passage = (policy: Policy, call: CallShown, facts: Facts) =>
    EFFECTS.indexOf(judge(compilePolicy(policy), call, facts).effect)

  /** What lets a call through on fewer people, sooner, or for longer is wider. */
  function expectNoWider(next: Policy, before: Policy, call: CallShown, facts: Facts): void {
    // Swaps that lose just more than the old policy lets them.
    const bound = maxSwapLossBpsOf(before)
    const isNothing =
      next.fallback === 'deny' && next.rules.every(({ effect }) => effect === 'deny')
    if (bound !== null && !isNothing)
      expect(maxSwapLossBpsOf(next) ?? Infinity).toBeLessThanOrEqual(bound)
    const passes = passage(next, call, facts)
    expect(passes).toBeLessThanOrEqual(passage(before, call, facts))
    if (passes !== ASKS || passage(before, call, facts) !== ASKS) return
    const now = approvalAsked(compilePolicy(next), call, facts)
    const then = approvalAsked(compilePolicy(before), call, facts)
    expect(now.needed).toBeGreaterThanOrEqual(then.needed)
    expect(now.delaySeconds).toBeGreaterThanOrEqual(then.delaySeconds)
    if (then.needed > 0) expect(now.expiresSeconds).toBeLessThanOrEqual(then.expiresSeconds)
  }

  test('a judge that leaves things to the other refuses nothing that the other may allow', () => {
    fc.assert(
      fc.property(POLICY, CALL, FACTS, (policy, call, facts) => {
        const elsewhere: Facts = { ...facts, spendMicros: ELSEWHERE, hasPaid: ELSEWHERE }
        expect(passage(policy, call, elsewhere)).toBeGreaterThanOrEqual(
          passage(policy, call, facts),
        )
      }),
      { numRuns: RUNS },
    )
  })

  test('a policy that is proved no wider lets nothing through that the old one did not', () => {
    let proved = 0
    fc.assert(
      fc.property(POLICY, POLICY, CALL, FACTS, fc.nat(3), (before, other, call, facts, how) => {
        const next = how === 0 ? other : narrowed(before, other, how)
        if (policyEnlarges(before, next)) return
        proved += 1
        expectNoWider(next, before, call, facts)
      }),
      { numRuns: RUNS },
    )
    expect(proved).toBeGreaterThan(RUNS / 20)
  })

  test('what two policies have in common is no wider than either', () => {
    fc.assert(
      fc.property(POLICY, POLICY, CALL, FACTS, (one, other, call, facts) => {
        const common = commonPolicy(one, other)
        if (common === null) throw new Error('two policies have none in common')
        expectNoWider(common, one, call, facts)
        expectNoWider(common, other, call, facts)
      }),
      { numRuns: RUNS },
    )
  })
})

/** Changes that are narrower for the most part. */
function narrowed(before: Policy, other: Policy, how: number): Policy {
  const refusing = other.rules.map((one, at) => ({ ...one, name: `other ${at}` }))
  if (how === 1) return { ...before, rules: [...before.rules, ...refusing] }
  const [first, ...rest] = before.rules
  if (how === 2 || first === undefined) return { ...before, fallback: 'deny' }
  const when = other.rules[0]?.when ?? {}
  return { ...before, rules: [{ ...first, when: { ...first.when, ...when } }, ...rest] }
}
