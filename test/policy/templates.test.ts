import { describe, expect, test } from 'vitest'
import { NATIVE_ADDRESS, showIntent } from '../../src/policy/call-shown.js'
import { policyEnlarges } from '../../src/policy/enlarges.js'
import { compilePolicy, judge } from '../../src/policy/judge-policy.js'
import { POLICY_TEMPLATES } from '../../src/policy/templates.js'
import { PAYEES, policyOf, USDC } from './random-policies.js'

const OTHER = '0x5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a'
const NAMES = Object.keys(POLICY_TEMPLATES) as (keyof typeof POLICY_TEMPLATES)[]

describe.each(NAMES)('the template %s', (name) => {
  test.each([USDC, 'native'])('is a policy that gives no key more than it has (%s)', (token) => {
    const terms = { chainId: 8453, token, payees: PAYEES, tokensOut: [token], perDay: '1000000' }
    const policy = policyOf(POLICY_TEMPLATES[name].write(terms))
    expect(policyEnlarges(null, policy)).toBe(false)
    expect(policy.ceilings).toHaveLength(1)
    // A swap for a token that is not named is nothing that the key may do unasked.
    const swap = {
      tokenIn: USDC,
      amountIn: 1n,
      tokenOut: OTHER,
      target: OTHER,
      data: '0x04e45aaf',
    } as const
    const facts = { spendMicros: 1n, hasPaid: () => true, within: () => null, countsUsd: true }
    const at = { ...facts, nowMs: Date.UTC(2026, 0, 5, 12) }
    const verdict = judge(compilePolicy(policy), showIntent('swap', 8453, swap), at)
    expect(verdict.effect).not.toBe('allow')
    if (name === 'payments') return
    const named = showIntent('swap', 8453, {
      ...swap,
      tokenOut: token === 'native' ? NATIVE_ADDRESS : USDC,
    })
    expect(judge(compilePolicy(policy), named, at).effect).toBe('allow')
    expect(policy.breakers.length).toBeGreaterThan(0)
  })
})
