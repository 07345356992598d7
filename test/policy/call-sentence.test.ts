import { encodeFunctionData, erc20Abi } from 'viem'
import { describe, expect, test } from 'vitest'
import type { Address, Hex } from '../../src/domain/ids.js'
import { UINT256_MAX } from '../../src/policy/bounds.js'
import {
  callSentence,
  exchangeSentence,
  leavesAllowance,
  type TokenNames,
} from '../../src/policy/call-sentence.js'
import { NATIVE_ADDRESS, showCall } from '../../src/policy/call-shown.js'

const USDC: Address = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'
const ACME: Address = '0x00000000000000000000000000000000000000aa'
const UNKNOWN: Address = '0x00000000000000000000000000000000000000bb'
const names: TokenNames = (token) => (token === USDC ? { symbol: 'USDC', decimals: 6 } : null)

function sentence(to: Address, data: Hex, value = 0n, name: string | null = null): string {
  return callSentence(showCall({ operation: 'send', chainId: 8453, to, value, data }), names, name)
}
const transfer = (amount: bigint) =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [ACME, amount] })
const approve = (amount: bigint) =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [ACME, amount] })

describe('the sentence that people decide by', () => {
  test.each([
    ['a coin', sentence(ACME, '0x', 10n ** 17n), `Send 0.1 ETH to ${ACME} on Base`],
    ['a known token', sentence(USDC, transfer(800_000_000n)), `Send 800 USDC to ${ACME} on Base`],
    ['a cent of it', sentence(USDC, transfer(10_000n)), `Send 0.01 USDC to ${ACME} on Base`],
    [
      'an unknown token',
      sentence(UNKNOWN, transfer(7n)),
      `Send 7 smallest units of the token ${UNKNOWN} to ${ACME} on Base`,
    ],
    [
      'an allowance',
      sentence(USDC, approve(5_000_000n)),
      `Let ${ACME} take 5 USDC from the wallet at any time on Base`,
    ],
    [
      'an unbounded allowance',
      sentence(USDC, approve(UINT256_MAX)),
      `Let ${ACME} take any amount of USDC from the wallet at any time on Base`,
    ],
    [
      'an unknown function',
      sentence(UNKNOWN, '0x12345678', 10n ** 18n),
      `Call a function that is not known of the contract ${UNKNOWN} with 1 ETH on Base`,
    ],
    [
      'a known function',
      sentence(UNKNOWN, '0x12345678', 0n, 'multicall'),
      `Call “multicall” of the contract ${UNKNOWN} on Base`,
    ],
    [
      'a token with coins along',
      sentence(USDC, transfer(1_000_000n), 10n ** 18n),
      `Send 1 USDC to ${ACME} with 1 ETH on Base`,
    ],
  ])('says what %s moves, in units', (_what, said, wanted) => {
    expect(said).toBe(wanted)
  })

  test('says what an exchange gives and takes, in units', () => {
    const terms = { tokenIn: USDC, amountIn: 2_000_000n, tokenOut: NATIVE_ADDRESS, minOut: 6n }
    expect(exchangeSentence(terms, 8453, names)).toBe(
      'Exchange 2 USDC for at least 0.000000000000000006 ETH on Base',
    )
  })

  test('knows every function that leaves an allowance', () => {
    expect(leavesAllowance(approve(1n).slice(0, 10))).toBe(true)
    expect(leavesAllowance(transfer(1n).slice(0, 10))).toBe(false)
    expect(leavesAllowance(null)).toBe(false)
  })
})
