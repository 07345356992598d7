import { decodeFunctionData, erc20Abi, getAddress } from 'viem'
import { describe, expect, it } from 'vitest'
import { type Transfer, type TransferLookups, transferCall } from '../../src/client/transfer.js'
import { chainNamed } from '../../src/domain/chain-named.js'
import { CHAINS } from '../../src/domain/chains.js'

const TO = '0x00000000000000000000000000000000000000Aa'
const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const OTHER = '0x4200000000000000000000000000000000000006'

const lookups: TransferLookups = {
  chains: async () => ({ chains: CHAINS.map((chain) => ({ ...chain, has_router: true })) }),
  native: async (chainId) => ({ chain_id: chainId, balance: '0', decimals: 18, symbol: 'ETH' }),
  tokens: async (chainId) => ({
    chain_id: chainId,
    tokens: [
      { token: USDC, symbol: 'USDC', decimals: 6, balance: '0', usd_value: null },
      { token: OTHER, symbol: 'TWIN', decimals: 18, balance: '0', usd_value: null },
      { token: TO, symbol: 'twin', decimals: 0, balance: '0', usd_value: null },
    ],
  }),
}

const callOf = (over: Partial<Transfer> = {}) =>
  transferCall({ chain: 'base', token: 'USDC', to: TO, amount: '5', ...over }, lookups)

describe('a transfer by names', () => {
  it('of a token is a call of its transfer function with the exact amount', async () => {
    const call = await callOf({ amount: '5.25' })
    expect(call).toMatchObject({ chain_id: 8453, to: USDC, value: '0' })
    const { functionName, args } = decodeFunctionData({
      abi: erc20Abi,
      data: call.data as `0x${string}`,
    })
    expect({ functionName, args }).toEqual({
      functionName: 'transfer',
      args: [getAddress(TO), 5_250_000n],
    })
  })

  it('of the native currency is a plain value', async () => {
    expect(await callOf({ chain: 1, token: 'native', amount: '0.000000000000000001' })).toEqual({
      chain_id: 1,
      to: TO,
      value: '1',
    })
  })

  it('takes a configured token by its address in any case', async () => {
    expect((await callOf({ token: USDC.toLowerCase() })).to).toBe(USDC)
  })

  it.each([
    ['an unknown chain', { chain: 'solana' }, /No chain is named solana.*Base/],
    ['an unknown symbol', { token: 'USDX' }, /no token USDX on chain 8453.*USDC/],
    ['an address that is not configured', { token: `0x${'12'.repeat(20)}` }, /no token 0x12/],
    ['a symbol that two tokens have', { token: 'Twin' }, /Several tokens/],
    [
      'more fraction digits than the token has',
      { amount: '0.0000001' },
      /more than the 6 decimals/,
    ],
    ['an exponent', { amount: '1e3' }, /not a decimal/],
    ['a sign', { amount: '-1' }, /not a decimal/],
    ['a comma', { amount: '1,5' }, /not a decimal/],
    ['hexadecimal', { amount: '0x10' }, /not a decimal/],
    ['white space', { amount: ' 5' }, /not a decimal/],
    ['an empty amount', { amount: '' }, /not a decimal/],
    ['zero', { amount: '0.0' }, /zero/],
    ['more than uint256 holds', { amount: '9'.repeat(78) }, /too large/],
    ['a name for the recipient', { to: 'vitalik.eth' }, /not an address/],
  ] as const)('refuses %s before anything is sent', async (_what, over, message) => {
    await expect(callOf(over)).rejects.toThrow(message)
  })
})

describe('a chain by name', () => {
  it.each([
    ['base', 8453],
    ['Ethereum', 1],
    ['BNB Chain', 56],
    ['bnb-chain', 56],
    ['bnb', 56],
    ['ARBITRUM', 42161],
  ])('%s is found', (text, id) => {
    expect(chainNamed(CHAINS, text)?.id).toBe(id)
  })

  it.each(['', 'chain', 'bas', 'base2'])('%j is not', (text) => {
    expect(chainNamed(CHAINS, text)).toBeNull()
  })
})
