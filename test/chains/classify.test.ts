import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { classifyCallError, classifyNodeError } from '../../src/chains/rpc/classify.js'
import { NODE_ERROR_ROWS } from '../../src/chains/rpc/node-errors.js'
import { TEXTS } from './node-texts.js'

describe('the classifier of node errors', () => {
  test.each(TEXTS)('%s → %s (%s)', (text, kind, detail) => {
    const outcome = classifyNodeError(-32000, text)
    expect(outcome.kind).toBe(kind)
    if (outcome.kind === 'rejected') expect(outcome.reason).toBe(detail)
    if (outcome.kind === 'underpriced') expect(outcome.against).toBe(detail)
  })

  test('every row is hit by some text of the table', () => {
    const unused = NODE_ERROR_ROWS.filter(
      (row) => !TEXTS.some(([text]) => NODE_ERROR_ROWS.find((r) => r.pattern.test(text)) === row),
    )
    expect(unused.map((row) => row.why)).toEqual([])
  })

  test('a rate limit is never a rejection, whatever its text says', () => {
    expect(classifyNodeError(-32005, 'insufficient funds of compute units').kind).toBe(
      'indeterminate',
    )
  })

  test('words that nobody knows never prove that a node did not take the bytes', () => {
    fc.assert(
      fc.property(fc.integer(), fc.string({ maxLength: 4_000 }), (code, text) => {
        const outcome = classifyNodeError(code, text)
        if (NODE_ERROR_ROWS.some((row) => row.pattern.test(text))) return
        expect(outcome.kind).toBe('indeterminate')
      }),
    )
  })

  test('a megabyte of hostile text is classified in bounded time and kept short', () => {
    const outcome = classifyNodeError(-32000, 'insufficient funds '.repeat(60_000))
    expect(outcome.kind === 'rejected' && outcome.text.length).toBeLessThan(400)
  })
})

describe('an error of a call', () => {
  test.each([
    [3, 'execution reverted: timeout', 'reverted', 'geth'],
    [-32000, 'execution reverted', 'reverted', 'old geth, gateways'],
    [-32015, 'VM execution error.', 'reverted', 'nethermind, OpenEthereum'],
    [-32000, 'Execution reverted', 'reverted', 'besu'],
    [-32603, 'Error: VM Exception while processing transaction: revert no', 'reverted', 'hardhat'],
    [-32603, 'Error: Transaction reverted without a reason string', 'reverted', 'hardhat'],
    [-32000, 'invalid opcode: INVALID', 'halted', 'geth'],
    [-32000, 'EVM error InvalidFEOpcode', 'halted', 'anvil'],
    [-32000, 'out of gas', 'halted', 'geth'],
    [-32000, 'insufficient funds for gas * price + value', 'insufficient-funds', 'geth'],
    [-32000, 'gas required exceeds allowance (50000000)', 'insufficient-funds', 'geth'],
    [-32000, 'header not found', 'refused', 'geth'],
    [-32601, 'the method eth_simulateV1 does not exist', 'refused', 'geth'],
    [-32007, '50/second request limit reached', 'refused', 'quicknode'],
    [3, 'rate limited', 'refused', 'a gateway that takes code 3 for its own'],
    [-32005, 'execution reverted by the rate limiter', 'refused', 'a rate limit'],
    [15, 'Too many request, try again later', 'refused', 'drpc'],
    [0, '', 'refused', 'nobody'],
  ])('%i %s → %s (%s)', (code, message, kind) => {
    expect(classifyCallError(code, message)).toBe(kind)
  })
})
