import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { BroadcastOutcome } from '../../src/chains/rpc/broadcast-outcome.js'
import type { NodeVerdict } from '../../src/chains/rpc/classify.js'
import { createVerdictSum } from '../../src/chains/rpc/verdict-sum.js'

const poor: NodeVerdict = {
  outcome: { kind: 'rejected', reason: 'insufficient-funds', text: '' },
  certainty: 'state',
}
const malformed: NodeVerdict = {
  outcome: { kind: 'rejected', reason: 'invalid', text: '' },
  certainty: 'bytes',
}
const lost: NodeVerdict = { outcome: { kind: 'indeterminate', text: '' }, certainty: 'state' }
const later: NodeVerdict = { outcome: { kind: 'retry', text: '' }, certainty: 'state' }
const cheap: NodeVerdict = {
  outcome: { kind: 'underpriced', against: 'floor', text: '' },
  certainty: 'state',
}
const accepted: NodeVerdict = { outcome: { kind: 'accepted' }, certainty: 'bytes' }
const known: NodeVerdict = { outcome: { kind: 'known' }, certainty: 'state' }

function sum(...verdicts: NodeVerdict[]): BroadcastOutcome['kind'] {
  const total = createVerdictSum()
  for (const verdict of verdicts) {
    const final = total.add(verdict)
    if (final !== null) return final.kind
  }
  return total.result().kind
}

describe('what several endpoints said', () => {
  test('a rejection by state needs a second opinion, one by the bytes does not', () => {
    expect(createVerdictSum().add(poor)).toBeNull()
    expect(createVerdictSum().add(malformed)?.kind).toBe('rejected')
    expect(sum(poor, poor)).toBe('rejected')
    expect(sum(poor)).toBe('rejected')
  })

  test('a lagging node that sees no funds does not outvote one that takes the transaction', () => {
    expect(sum(poor, accepted)).toBe('accepted')
  })

  test('an answer lost at one node stays indeterminate when another rejects by state', () => {
    expect(sum(lost, poor, poor)).toBe('indeterminate')
    expect(sum(lost, cheap)).toBe('indeterminate')
    expect(sum(lost, known)).toBe('known')
  })

  test('disagreement between retry and rejection is indeterminate', () => {
    expect(sum(later, poor, poor)).toBe('retry')
    expect(sum(poor, later)).toBe('retry')
  })

  test('nobody asked is retry', () => {
    expect(sum()).toBe('retry')
  })

  test('rejection by state is never believed after a disputed answer, in any order', () => {
    const unclear = fc.constantFrom(lost, later)
    const others = fc.array(fc.constantFrom(poor, lost, later, cheap), { maxLength: 5 })
    fc.assert(
      fc.property(unclear, others, (first, rest) => {
        expect(sum(first, ...rest)).not.toBe('rejected')
      }),
    )
  })
})
