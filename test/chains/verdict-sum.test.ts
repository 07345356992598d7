import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { BroadcastOutcome } from '../../src/chains/rpc/broadcast-outcome.js'
import { classifyNodeError } from '../../src/chains/rpc/classify.js'
import { createVerdictSum } from '../../src/chains/rpc/verdict-sum.js'

const poor = classifyNodeError(-32000, 'insufficient funds for transfer')
const malformed = classifyNodeError(-32000, 'invalid sender')
const gasTooLow = classifyNodeError(-32000, 'intrinsic gas too low')
const later = classifyNodeError(-32000, 'txpool is full')
const cheap = classifyNodeError(-32000, 'transaction underpriced')
const lost: BroadcastOutcome = { kind: 'indeterminate', text: '' }
const accepted: BroadcastOutcome = { kind: 'accepted' }
const known: BroadcastOutcome = { kind: 'known' }

function sum(...verdicts: BroadcastOutcome[]): BroadcastOutcome['kind'] {
  const total = createVerdictSum()
  for (const verdict of verdicts) {
    const final = total.add(verdict)
    if (final !== null) return final.kind
  }
  return total.result().kind
}

describe('what several endpoints said', () => {
  test.each([poor, malformed, gasTooLow])(
    'a refusal is no reason to ask nobody else, whatever its words',
    (refusal) => {
      expect(createVerdictSum().add(refusal)).toBeNull()
      expect(sum(refusal, accepted)).toBe('accepted')
      expect(sum(refusal, refusal)).toBe('rejected')
    },
  )

  test('an answer lost at one endpoint stays indeterminate, whatever the others refuse it for', () => {
    for (const refusal of [poor, malformed, gasTooLow, cheap, later]) {
      expect(sum(lost, refusal, refusal)).toBe('indeterminate')
      expect(sum(refusal, lost, refusal)).toBe('indeterminate')
    }
    expect(sum(lost, known)).toBe('known')
  })

  test('one that may take it later, or for a higher fee, outweighs a rejection', () => {
    expect(sum(later, poor, poor)).toBe('retry')
    expect(sum(poor, later)).toBe('retry')
    expect(sum(malformed, cheap)).toBe('underpriced')
  })

  test('nobody asked is retry', () => {
    expect(sum()).toBe('retry')
  })

  test('only refusals by all make a rejection, in any order', () => {
    const anything = fc.constantFrom(poor, malformed, gasTooLow, lost, later, cheap)
    fc.assert(
      fc.property(fc.array(anything, { minLength: 1, maxLength: 6 }), (heard) => {
        const isRefusedByAll = heard.every(({ kind }) => kind === 'rejected')
        expect(sum(...heard) === 'rejected').toBe(isRefusedByAll)
      }),
    )
  })
})
