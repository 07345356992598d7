import { describe, expect, test } from 'vitest'
import { policyEnlarges } from '../../src/policy/enlarges.js'
import { POLICY_TEMPLATES } from '../../src/policy/templates.js'
import { PAYEES, policyOf, USDC } from './random-policies.js'

const NAMES = Object.keys(POLICY_TEMPLATES) as (keyof typeof POLICY_TEMPLATES)[]

describe.each(NAMES)('the template %s', (name) => {
  test.each([USDC, 'native'])('is a policy that gives no key more than it has (%s)', (token) => {
    const terms = { chainId: 8453, token, payees: PAYEES, perDay: '1000000' }
    const policy = policyOf(POLICY_TEMPLATES[name].write(terms))
    expect(policyEnlarges(null, policy)).toBe(false)
    expect(policy.ceilings).toHaveLength(1)
    expect(policy.breakers.length).toBeGreaterThan(0)
  })
})
