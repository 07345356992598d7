import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { EXAMPLES_SHOWN_MAX, findExamples } from '../../src/policy/example-search.js'
import {
  describeCall,
  describeCircumstances,
  describeJudgement,
} from '../../src/policy/example-words.js'
import { type Circumstances, isFreer, judgeOf } from '../../src/policy/judged-call.js'
import type { Policy } from '../../src/policy/policy.js'
import { CALL, FACTS, PAYEES, POLICY, policyOf, USDC } from './random-policies.js'

const [PAYEE = USDC, OTHER = USDC] = PAYEES
const TRANSFER = 'transfer(address,uint256)'

const allowing = (when: object, more: object = {}) =>
  policyOf({ rules: [{ name: 'pay', effect: 'allow', when }], default: 'deny', ...more })
const refusing = (when: object) =>
  policyOf({ rules: [{ name: 'never', effect: 'deny', when }], default: 'allow' })
const asking = (needed: number, seconds: number) =>
  policyOf({
    rules: [
      {
        ...{ name: 'ask', effect: 'require_approval', when: { chains: [1] } },
        ...{ approvals: { needed }, delay_seconds: seconds },
      },
    ],
    default: 'deny',
  })
const under = (ceilings: object[]) => policyOf({ default: 'allow', ceilings })
const perDay = (amount: string) => ({ chain_id: 10, token: USDC, per: 'day', amount })

const WIDENED: Readonly<Record<string, readonly [Policy | null, Policy | null]>> = {
  'one payee more': [
    allowing({ to: [USDC], functions: [TRANSFER], beneficiaries: [PAYEE] }),
    allowing({ to: [USDC], functions: [TRANSFER], beneficiaries: [PAYEE, OTHER] }),
  ],
  'one chain more': [allowing({ chains: [1] }), allowing({ chains: [1, 10] })],
  'another function': [
    allowing({ to: [PAYEE], functions: ['setOwner(address,bool)'] }),
    allowing({ to: [PAYEE], functions: ['setOwner(address,bool)', 'setFee(uint256)'] }),
  ],
  'a higher argument': [
    allowing({ functions: ['setFee(uint256)'], arguments: [{ index: 0, op: 'lte', value: '5' }] }),
    allowing({ functions: ['setFee(uint256)'], arguments: [{ index: 0, op: 'lte', value: '6' }] }),
  ],
  'a larger amount': [
    allowing({ amounts: [{ token: USDC, lte: '50' }] }),
    allowing({ amounts: [{ token: USDC, lte: '51' }] }),
  ],
  'more wei': [allowing({ value_native_lte: '7' }), allowing({ value_native_lte: '8' })],
  'more USD in one call': [
    allowing({}, { per_transaction_usd: '5.00' }),
    allowing({}, { per_transaction_usd: '5.01' }),
  ],
  'a later hour': [
    allowing({ utc_hours: [{ from: '08:00', to: '17:00' }] }),
    allowing({ utc_hours: [{ from: '08:00', to: '18:00' }] }),
  ],
  'another operation': [
    allowing({ operations: ['swap'] }),
    allowing({ operations: ['swap', 'gas_swap'] }),
  ],
  'a higher ceiling': [under([perDay('5')]), under([perDay('6')])],
  'no ceiling any more': [under([perDay('5')]), under([])],
  'more often': [
    refusing({ count: { per_seconds: 60, gt: 3 } }),
    refusing({ count: { per_seconds: 60, gt: 4 } }),
  ],
  'a sum that is higher': [
    refusing({ sum_usd: { per_seconds: 60, gt: '3.00' } }),
    refusing({ sum_usd: { per_seconds: 60, gt: '4.00' } }),
  ],
  'strangers may be paid': [refusing({ new_beneficiary: true }), policyOf({ default: 'allow' })],
  'fewer people are asked': [asking(2, 60), asking(1, 60)],
  'it waits for less time': [asking(1, 60), asking(1, 30)],
  'an exception from a refusal': [
    refusing({ chains: [1] }),
    refusing({ chains: [1], not: { to: [PAYEE] } }),
  ],
  'one token more to buy': [
    allowing({ operations: ['swap'], token_out: [USDC] }),
    allowing({ operations: ['swap'], token_out: [USDC, 'native'] }),
  ],
  'swaps that may lose more': [
    policyOf({ default: 'allow', max_swap_loss_bps: 100 }),
    policyOf({ default: 'allow' }),
  ],
  'swaps that may lose anything': [null, policyOf({ default: 'allow', max_swap_loss_bps: null })],
  'no policy any more': [allowing({ to: [PAYEE] }), null],
}

describe('an example of what a policy newly lets through', () => {
  test.each(Object.entries(WIDENED))('is found where there is %s', (_, [before, next]) => {
    const { examples, isNarrower } = findExamples(before, next)
    expect(isNarrower).toBe(false)
    expect(examples.length).toBeGreaterThan(0)
    expect(examples.length).toBeLessThanOrEqual(EXAMPLES_SHOWN_MAX)
    for (const { call, circumstances } of examples) {
      const [old, now] = [before, next].map((policy) => judgeOf(policy)(call, circumstances))
      expect(old && now && isFreer(old, now)).toBe(true)
    }
    expect(findExamples(next, before).examples).toEqual([])
  })

  test('says what passes, under which rule, and when', () => {
    const [example] = findExamples(
      allowing({ amounts: [{ token: USDC, lte: '50' }], chains: [8453] }),
      allowing({ amounts: [{ token: USDC, lte: '90' }], chains: [8453] }),
    ).examples
    if (example === undefined) throw new Error('none was found')
    expect(describeJudgement(example.before)).toBe('refused')
    expect(describeJudgement(example.next)).toBe('allowed')
    expect([example.before.by, example.next.by]).toEqual(['default', 'pay'])
    expect(describeCall(example.call)).toMatch(
      new RegExp(
        `^send on Base to ${USDC}, calling transfer\\(address,uint256\\), moving 90 smallest units of ${USDC}, for 0x`,
      ),
    )
    expect(describeCircumstances(example.circumstances)).toBe('Monday 12:00 UTC; for 1.00 USD')
  })

  test('shows what goes through at once before what waits, whichever rule comes first', () => {
    const asked = [1, 2, 3, 4].map((at) => ({
      ...{
        name: `ask ${at}`,
        effect: 'require_approval',
        when: { to: [PAYEE.replace(/..$/, `0${at}`)] },
      },
    }))
    const drain = { name: 'last', effect: 'allow', when: { to: [OTHER], chains: [10] } }
    const next = policyOf({ rules: [...asked, drain], default: 'deny' })
    const { examples } = findExamples(policyOf({ default: 'deny' }), next)
    expect(examples).toHaveLength(EXAMPLES_SHOWN_MAX)
    expect(examples[0]?.next.by).toBe('last')
  })

  test('tells an allowance from a payment', () => {
    const [example] = findExamples(
      policyOf({ default: 'deny' }),
      allowing({ to: [USDC], functions: ['approve(address,uint256)'] }),
    ).examples
    expect(example && describeCall(example.call)).toContain(
      'calling approve(address,uint256), moving',
    )
  })
})

/** Pairs of policies, of which few differ in a call that is drawn at random. */
const PAIRS = 200
const CALLS_A_PAIR = 100

test('where one call in a hundred at random passes only now, one is found, nearly always', () => {
  const pairs = fc.sample(fc.tuple(POLICY, POLICY), { numRuns: PAIRS, seed: 7 })
  const calls = fc.sample(fc.tuple(CALL, FACTS), { numRuns: CALLS_A_PAIR, seed: 9 })
  let differing = 0
  let found = 0
  for (const [before, next] of pairs) {
    const [old, now] = [judgeOf(before), judgeOf(next)]
    const isDifferent = calls.some(([call, facts]) => {
      const around = circumstances(call, facts)
      return isFreer(old(call, around), now(call, around))
    })
    if (!isDifferent) continue
    const { examples, isNarrower } = findExamples(before, next)
    expect(isNarrower).toBe(false)
    differing++
    if (examples.length > 0) found++
  }
  expect(differing).toBeGreaterThan(PAIRS / 4)
  expect(found / differing).toBeGreaterThan(0.97)
}, 60_000)

type Drawn<T> = T extends fc.Arbitrary<infer Value> ? Value : never

function circumstances(
  { beneficiaries }: Drawn<typeof CALL>,
  { nowMs, spendMicros, hasPaid, within }: Drawn<typeof FACTS>,
): Circumstances {
  const known = typeof hasPaid === 'function' ? hasPaid : () => false
  return {
    ...{ nowMs, spendMicros: typeof spendMicros === 'bigint' ? spendMicros : null },
    paid: (beneficiaries ?? []).filter(known),
    lossBps: nowMs % 10_001,
    counted: new Map(
      [60, 3600].flatMap((seconds) => {
        const counted = within(seconds)
        return counted === null ? [] : [[seconds, counted] as const]
      }),
    ),
    used: new Map(),
  }
}
