import { describe, expect, test } from 'vitest'
import { type ApprovalDecision, isApproved, peopleWhoApproved } from '../../src/domain/approval.js'
import type { UserId } from '../../src/domain/ids.js'

/** Who counts how often for a call that waits, at the service. */

const ADA = 'user_ada' as UserId

const by = (
  authorizerId: string,
  personIds?: readonly string[] | null,
  decision: ApprovalDecision['decision'] = 'approve',
): ApprovalDecision => ({
  ...{ authorizerId, decision, comment: null, atMs: 1, proof: null },
  ...(personIds === undefined ? {} : { personIds }),
})

const count = (...decisions: ApprovalDecision[]) => peopleWhoApproved({ decisions, userId: ADA })

describe('people who approved', () => {
  test('are authorizers where nobody was ever invited, as they always were', () => {
    expect(count(by('aut_1'), by('aut_2'))).toBe(2)
    expect(count(by('aut_1', null), by('aut_2', null))).toBe(2)
    expect(count(by('aut_1'), by('aut_1'))).toBe(1)
  })

  test('are persons in a shared account, each once', () => {
    expect(count(by('aut_1', [ADA]), by('aut_2', [ADA]))).toBe(1)
    expect(count(by('aut_1', [ADA]), by('aut_2', ['user_bob']))).toBe(2)
  })

  test('are none by an authorizer of nobody who may approve', () => {
    expect(count(by('aut_1', []))).toBe(0)
    expect(isApproved({ decisions: [by('aut_1', [])], needed: 1, userId: ADA })).toBe(false)
  })

  test('are one where a key is registered by two of them', () => {
    expect(count(by('aut_1', [ADA, 'user_bob']), by('aut_2', ['user_bob']))).toBe(1)
  })

  test('are the account’s own person, where they approved before the first invitation', () => {
    expect(count(by('aut_1', null), by('aut_2', [ADA]))).toBe(1)
    expect(count(by('aut_1', null), by('aut_2', ['user_bob']))).toBe(2)
  })

  test('do not decline', () => {
    expect(count(by('aut_1', [ADA], 'decline'))).toBe(0)
  })
})
