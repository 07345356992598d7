import { describe, expect, test } from 'vitest'
import { predictedOutcomeOf } from '../../actors/sub-wallet/core/predicted-outcome.js'
import type { Address } from '../../src/domain/ids.js'
import { PREDICTED_LISTED_MAX } from '../../src/domain/predicted-outcome.js'
import { predictFromCalldata, predictFromTerms } from '../../src/policy/predict-from-calldata.js'
import type { Movement, QuoteBasis } from '../../src/valuation/quoter.js'

const WALLET: Address = '0x00000000000000000000000000000000000000aA'
const PEER: Address = '0x00000000000000000000000000000000000000bB'
const TOKEN: Address = '0x00000000000000000000000000000000000000Cc'
const NATIVE: Address = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE'

const basisOf = (given: Partial<QuoteBasis> = {}): QuoteBasis => ({
  ...{ simulated: true, after: [], quotedAtBlock: 1, maxFeeWei: 1n, gasUsed: 50_000n },
  ...{ prices: [], movements: [], approvals: [], recipients: [] },
  ...given,
})

const leaving = (valueMicros: bigint | null, amount = 1n): Movement => ({
  ...{ token: TOKEN, from: WALLET, to: PEER, amount, kind: 'erc20', valueMicros },
})
const arriving = (valueMicros: bigint | null): Movement => ({
  ...leaving(valueMicros),
  ...{ from: PEER, to: WALLET },
})

describe('what is kept of what a call was to do', () => {
  test('is nothing of a plain transfer, and of what nobody valued', () => {
    expect(predictedOutcomeOf(WALLET, basisOf({ simulated: false, after: null }))).toBeNull()
    expect(predictedOutcomeOf(WALLET, null)).toBeNull()
  })

  test('is that a run moved nothing', () => {
    expect(predictedOutcomeOf(WALLET, basisOf())).toEqual({
      ...{ basis: 'run', gasUsed: 50_000n, leftOut: 0 },
      ...{ moves: [], approvals: [], prices: [] },
    })
  })

  test('is bounded, says what it leaves out, and hides nothing valuable behind dust', () => {
    const dust = Array.from({ length: 1_000 }, (_, n) => arriving(BigInt(n)))
    const unpriced = Array.from({ length: 20 }, () => leaving(null))
    const movements = [...dust, ...unpriced, leaving(7n, 70n), leaving(9n, 90n)]
    const approval = { token: TOKEN, owner: WALLET, spender: PEER, kind: 'erc20' } as const
    const approvals = Array.from({ length: 30 }, (_, n) => ({
      ...{ ...approval, amount: BigInt(n), valueMicros: BigInt(n) },
    }))
    const kept = predictedOutcomeOf(WALLET, basisOf({ movements, approvals }))
    expect(kept?.moves).toHaveLength(PREDICTED_LISTED_MAX)
    expect(kept?.moves.slice(0, 3)).toMatchObject([
      { way: 'out', amount: 90n, party: PEER },
      { way: 'out', amount: 70n },
      { way: 'out', valueMicros: null },
    ])
    expect(kept?.approvals).toHaveLength(PREDICTED_LISTED_MAX)
    expect(kept?.approvals[0]?.amount).toBe(29n)
    expect(kept?.leftOut).toBe(1_022 - PREDICTED_LISTED_MAX + (30 - PREDICTED_LISTED_MAX))
  })
})

describe('what a call says by itself that it was to do', () => {
  const call = { operation: 'send', chainId: 1, to: PEER, value: 5n, data: '0x' } as const

  test('is the movement of native currency, or none where it sends none', () => {
    expect(predictFromCalldata(call, 3n)).toMatchObject({
      ...{ basis: 'words', moves: [{ way: 'out', token: null, amount: 5n, valueMicros: 3n }] },
    })
    expect(predictFromCalldata({ ...call, value: 0n }, 0n)?.moves).toEqual([])
  })

  test('is nothing where another function is called, which may do anything', () => {
    const word = '0'.repeat(63)
    for (const selector of ['0x095ea7b3', '0xd0e30db0', '0x12345678'] as const) {
      expect(predictFromCalldata({ ...call, data: `${selector}${word}1${word}2` }, 3n)).toBeNull()
    }
  })

  test('is of an intent all of its input, and the least of its output', () => {
    const terms = { tokenIn: TOKEN, amountIn: 9n, feeBps: 30, target: PEER }
    const predicted = predictFromTerms({ ...terms, tokenOut: NATIVE, minOut: 4n }, 2n)
    expect(predicted).toMatchObject({
      basis: 'terms',
      moves: [
        { way: 'out', token: TOKEN, amount: 9n, atLeast: false, valueMicros: 2n },
        { way: 'in', token: null, amount: 4n, atLeast: true, valueMicros: null },
      ],
    })
  })
})
