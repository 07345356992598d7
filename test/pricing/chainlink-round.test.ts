import fc from 'fast-check'
import { encodeAbiParameters, parseAbiParameters } from 'viem'
import { describe, expect, test } from 'vitest'
import {
  decodeRound,
  gapOfRound,
  gapOfSequencer,
  type Round,
} from '../../src/pricing/chainlink-round.js'

const NOW_MS = 1_800_000_000_000
const NOW_S = NOW_MS / 1_000

function round(said: Partial<Round> = {}): Round {
  return {
    roundId: 5n,
    answer: 100n,
    startedAtS: NOW_S,
    updatedAtS: NOW_S,
    answeredInRound: 5n,
    ...said,
  }
}

describe('what a round must be to become a price', () => {
  const last = { answer: 100n, acceptedAtMs: NOW_MS - 10_000 }
  const old = { answer: 100n, acceptedAtMs: NOW_MS - 60_000 }

  test.each([
    ['positive', round(), null, null],
    ['zero', round({ answer: 0n }), null, 'feed-invalid'],
    ['negative', round({ answer: -1n }), null, 'feed-invalid'],
    ['never updated', round({ updatedAtS: 0 }), null, 'feed-invalid'],
    ['carried over from an older round', round({ answeredInRound: 4n }), null, 'feed-invalid'],
    ['half as much again', round({ answer: 150n }), last, null],
    ['more than half up', round({ answer: 151n }), last, 'implausible-move'],
    ['more than half down', round({ answer: 49n }), last, 'implausible-move'],
    ['more than half up, but it has lasted a minute', round({ answer: 151n }), old, null],
  ] as const)('%s', (_, given, before, gap) => {
    expect(gapOfRound(given, before, NOW_MS)).toBe(gap)
  })

  test.each([
    ['up for long', round({ answer: 0n, startedAtS: NOW_S - 3_600 }), null],
    ['just up again', round({ answer: 0n, startedAtS: NOW_S - 3_599 }), 'sequencer-recovering'],
    ['down', round({ answer: 1n, startedAtS: NOW_S - 9_999 }), 'sequencer-down'],
    ['not initialised', round({ answer: 0n, startedAtS: 0 }), 'feed-unreachable'],
    ['no answer', null, 'feed-unreachable'],
  ] as const)('sequencer: %s', (_, given, gap) => {
    expect(gapOfSequencer(given, NOW_MS)).toBe(gap)
  })
})

describe('decoding', () => {
  const fields = parseAbiParameters('uint80, int256, uint256, uint256, uint80')

  test('reads what the ABI writes, negative answers included', () => {
    const time = fc.integer({ min: 0, max: 10 ** 11 })
    fc.assert(
      fc.property(
        fc.bigInt(-(2n ** 255n), 2n ** 255n - 1n),
        time,
        time,
        (answer, started, updated) => {
          const data = encodeAbiParameters(fields, [
            7n,
            answer,
            BigInt(started),
            BigInt(updated),
            6n,
          ])
          expect(decodeRound(data)).toEqual({
            roundId: 7n,
            answer,
            startedAtS: started,
            updatedAtS: updated,
            answeredInRound: 6n,
          })
        },
      ),
    )
  })

  test('anything else is no round', () => {
    const absurd = encodeAbiParameters(fields, [1n, 1n, 2n ** 200n, 1n, 1n])
    for (const value of ['0x', null, 12, `0x${'zz'.repeat(160)}`, absurd]) {
      expect(decodeRound(value)).toBeNull()
    }
  })
})
