import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { approvalAsked, approvalsPossible } from '../../src/policy/approval-asked.js'
import { showCall } from '../../src/policy/call-shown.js'
import { ELSEWHERE, type Facts } from '../../src/policy/condition.js'
import { compilePolicy, judge } from '../../src/policy/judge-policy.js'
import { CALL, FACTS, PAYEES, POLICY, policyOf, transferData, USDC } from './random-policies.js'

const FROM_BYTES: Partial<Facts> = { spendMicros: ELSEWHERE, hasPaid: ELSEWHERE, countsUsd: false }
const NOW: Facts = {
  nowMs: Date.UTC(2026, 0, 5, 12),
  spendMicros: 10_000_000n,
  hasPaid: () => true,
  within: () => ({ count: 0, micros: 0n }),
  countsUsd: true,
}

const [PAYEE = '0x'] = PAYEES
const transfer = showCall({
  ...{ operation: 'send', chainId: 8453, to: USDC, value: 0n },
  data: transferData(PAYEE, 5n),
})

function askedOf(json: object) {
  return approvalAsked(compilePolicy(policyOf({ default: 'deny', ...json })), transfer, NOW)
}

const asks = (name: string, needed: number, more: object = {}) => ({
  ...{ name, effect: 'require_approval', when: {} },
  approvals: { needed, expires_seconds: 600 },
  ...more,
})
const delays = (name: string, delay_seconds: number, when: object = {}) => ({
  ...{ name, effect: 'allow', when, delay_seconds },
})

describe('what a call waits for', () => {
  test('is the strictest that any matching rule asks for', () => {
    const rules = [
      delays('later', 60),
      asks('two people', 2),
      asks('one person', 1, { approvals: { needed: 1, expires_seconds: 60 }, delay_seconds: 30 }),
      delays('elsewhere', 3_600, { chains: [1] }),
    ]
    expect(askedOf({ rules })).toEqual({
      rule: 'two people',
      needed: 2,
      delaySeconds: 60,
      expiresSeconds: 60,
    })
  })

  test('leaves people the time that their own rules give them', () => {
    const day = asks('a day', 1, { approvals: { needed: 1, expires_seconds: 86_400 } })
    const asked = { rule: 'a day', needed: 1, delaySeconds: 60, expiresSeconds: 86_400 }
    expect(askedOf({ rules: [delays('later', 60), day] })).toEqual(asked)
    expect(askedOf({ rules: [day, delays('later', 60)] })).toEqual(asked)
  })

  test('is a person besides the time, where nothing allows what cannot be judged', () => {
    const unreadable = delays('later', 60, { beneficiaries: PAYEES, not: { spend_usd_gt: '1' } })
    const of = (json: object) => {
      const compiled = compilePolicy(policyOf(json))
      const facts = { ...NOW, spendMicros: null }
      const { effect } = judge(compiled, transfer, facts)
      const asked = approvalAsked(compiled, transfer, facts)
      return effect === 'require_approval' ? [asked.needed, asked.delaySeconds] : effect
    }
    const allows = { name: 'any', effect: 'allow', when: {} }
    expect(of({ rules: [unreadable], default: 'deny' })).toBe('deny')
    expect(of({ rules: [unreadable], default: 'require_approval' })).toEqual([1, 60])
    expect(of({ rules: [unreadable], default: 'allow' })).toEqual([0, 60])
    expect(of({ rules: [unreadable, allows], default: 'deny' })).toEqual([0, 60])
    expect(of({ rules: [unreadable, asks('two', 2)], default: 'deny' })).toEqual([2, 60])
  })

  test('is nobody where only its time must come', () => {
    expect(askedOf({ rules: [delays('later', 60)] })).toMatchObject({ needed: 0, delaySeconds: 60 })
  })

  test('is one person within the hour where the default asks', () => {
    expect(askedOf({ default: 'require_approval' })).toEqual({
      ...{ rule: 'default', needed: 1, delaySeconds: 0, expiresSeconds: 3_600 },
    })
  })

  test('is never more to the user side, which sees less, than to the service', () => {
    fc.assert(
      fc.property(POLICY, CALL, FACTS, (policy, call, facts) => {
        const compiled = compilePolicy(policy)
        const seen = { ...facts, ...FROM_BYTES }
        if (judge(compiled, call, facts).effect !== 'require_approval') return
        const there = judge(compiled, call, seen).effect
        expect(there).not.toBe('deny')
        if (there === 'allow') return
        const asked = approvalAsked(compiled, call, facts)
        const possible = approvalsPossible(compiled, call, seen)
        const isEnough = possible.some(
          ({ needed, delaySeconds }) =>
            needed <= asked.needed && delaySeconds <= asked.delaySeconds,
        )
        expect(isEnough).toBe(true)
      }),
      { numRuns: 1_000 },
    )
  })
})
