import { encodeFunctionData, parseEventLogs } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { erc20Abi } from '../../src/contracts/abis/erc20.js'
import { erc4626Abi } from '../../src/contracts/abis/erc4626.js'
import { quoterV2Abi } from '../../src/contracts/abis/quoter-v2.js'
import agentRouter from '../../src/contracts/generated/agent-router.json' with { type: 'json' }
import type { RouterIntent } from '../../src/contracts/router-intent-type.js'
import { routerFee } from '../../src/contracts/router-intent-type.js'
import {
  encodeSwap,
  encodeSwapPath,
  encodeSwapToNative,
  encodeUnwrap,
  encodeVaultDeposit,
  encodeVaultRedeem,
  encodeWrap,
} from '../../src/contracts/venue-calls.js'
import { NATIVE_TOKEN } from '../../src/domain/chains.js'
import type { Address } from '../../src/domain/ids.js'
import {
  type Agent,
  balanceOf,
  createAgent,
  createDelegatedAgent,
  execute,
  FEE_BPS,
  intentOf,
  revertReason,
  type SponsoredChain,
  startSponsoredChain,
} from './sponsored-chain.js'

const USDC_100 = 100_000_000n
const ETHER = 10n ** 18n

let chain: SponsoredChain
beforeAll(async () => {
  chain = await startSponsoredChain()
})
afterAll(() => chain?.stop())

async function quote(tokens: readonly Address[], fees: readonly number[], amountIn: bigint) {
  const { result } = await chain.owner.client.simulateContract({
    address: chain.world.swap.quoter,
    abi: quoterV2Abi,
    functionName: 'quoteExactInput',
    args: [encodeSwapPath(tokens, fees), amountIn],
  })
  return result[0]
}

/** Executes, and checks to the last unit what moved: input, fee, output, and nothing else. */
async function expectExact(
  agent: Agent,
  intent: RouterIntent,
  expectedOut: bigint,
  delegates = false,
) {
  const read = async () => ({
    in: await balanceOf(chain, intent.tokenIn, agent.address),
    out: await balanceOf(chain, intent.tokenOut, agent.address),
    fee: await balanceOf(chain, intent.tokenIn, chain.feeRecipient),
    native: await balanceOf(chain, NATIVE_TOKEN, agent.address),
    routerIn: await balanceOf(chain, intent.tokenIn, chain.router),
    routerOut: await balanceOf(chain, intent.tokenOut, chain.router),
  })
  const before = await read()
  const receipt = await execute(chain, agent, intent, { delegates })
  expect(await revertReason(chain, receipt)).toBeNull()
  const after = await read()
  expect(before.in - after.in).toBe(intent.amountIn)
  expect(after.fee - before.fee).toBe(routerFee(intent.amountIn, intent.feeBps))
  expect(after.out - before.out).toBe(expectedOut)
  expect([after.routerIn, after.routerOut]).toEqual([0n, 0n])
  const nativeMoved = [intent.tokenIn, intent.tokenOut].includes(NATIVE_TOKEN)
  if (!nativeMoved) expect(after.native).toBe(before.native)
  if (intent.tokenIn !== NATIVE_TOKEN) {
    const allowance = await chain.owner.client.readContract({
      address: intent.tokenIn,
      abi: erc20Abi,
      functionName: 'allowance',
      args: [chain.router, intent.target],
    })
    expect(allowance).toBe(0n)
  }
  return receipt
}

async function swapIntent(
  agent: Agent,
  tokens: readonly Address[],
  poolFees: readonly number[],
  amountIn: bigint,
  ends: { readonly nativeIn?: true; readonly nativeOut?: true } = {},
) {
  const net = amountIn - routerFee(amountIn, FEE_BPS)
  const minOut = await quote(tokens, poolFees, net)
  const call = { tokens, poolFees, recipient: agent.address, amountIn: net, minOut }
  return intentOf(chain, agent, {
    tokenIn: ends.nativeIn ? NATIVE_TOKEN : (tokens.at(0) as Address),
    amountIn,
    tokenOut: ends.nativeOut ? NATIVE_TOKEN : (tokens.at(-1) as Address),
    minOut,
    target: chain.world.swap.router,
    data: ends.nativeOut ? encodeSwapToNative(call) : encodeSwap(call),
  })
}

describe('sponsored flows', () => {
  it('delegates and swaps in one transaction, for an account without native currency', async () => {
    const agent = await createAgent(chain)
    const intent = await swapIntent(agent, [chain.usdc, chain.wrapped], [500], USDC_100)
    const receipt = await expectExact(agent, intent, intent.minOut, true)
    expect(receipt.type).toBe('eip7702')
    const code = await chain.owner.client.getCode({ address: agent.address })
    expect(code).toBe(`0xef0100${chain.delegate.slice(2).toLowerCase()}`)
    const [event] = parseEventLogs({ abi: agentRouter.abi, logs: receipt.logs })
    expect(event?.args).toMatchObject({
      account: agent.address,
      target: intent.target,
      fee: 300_000n,
      amountOut: intent.minOut,
    })
  })

  it('swaps over one hop of wrapped native', async () => {
    const agent = await createDelegatedAgent(chain)
    const path = [chain.usdc, chain.wrapped, chain.world.token.address]
    const intent = await swapIntent(agent, path, [500, 3000], USDC_100)
    await expectExact(agent, intent, intent.minOut)
  })

  it('turns USDC into native currency at the account: the gas swap', async () => {
    const agent = await createAgent(chain)
    const intent = await swapIntent(agent, [chain.usdc, chain.wrapped], [500], USDC_100, {
      nativeOut: true,
    })
    await expectExact(agent, intent, intent.minOut, true)
    expect(await balanceOf(chain, NATIVE_TOKEN, agent.address)).toBe(intent.minOut)
  })

  it('swaps native currency, which the venue wraps', async () => {
    const agent = await createDelegatedAgent(chain)
    await chain.owner.client.setBalance({ address: agent.address, value: ETHER })
    const intent = await swapIntent(agent, [chain.wrapped, chain.usdc], [500], ETHER, {
      nativeIn: true,
    })
    await expectExact(agent, intent, intent.minOut)
    expect(await balanceOf(chain, NATIVE_TOKEN, agent.address)).toBe(0n)
  })

  it('wraps native currency and unwraps it again, one for one less the fee', async () => {
    const agent = await createDelegatedAgent(chain)
    await chain.owner.client.setBalance({ address: agent.address, value: ETHER })
    const net = ETHER - routerFee(ETHER, FEE_BPS)
    const { router: target } = chain.world.swap
    const wrap = await intentOf(chain, agent, {
      ...{ tokenIn: NATIVE_TOKEN, amountIn: ETHER, tokenOut: chain.wrapped, minOut: net, target },
      data: encodeWrap(chain.wrapped, net, agent.address),
    })
    await expectExact(agent, wrap, net)
    const netAgain = net - routerFee(net, FEE_BPS)
    const unwrap = await intentOf(chain, agent, {
      ...{
        tokenIn: chain.wrapped,
        amountIn: net,
        tokenOut: NATIVE_TOKEN,
        minOut: netAgain,
        target,
      },
      data: encodeUnwrap(chain.wrapped, netAgain, agent.address),
    })
    await expectExact(agent, unwrap, netAgain)
  })

  it('deposits into a vault and withdraws more than the fee-free part after a year', async () => {
    const agent = await createDelegatedAgent(chain)
    const vault = chain.world.vaults[0]?.address as Address
    const assets = USDC_100 - routerFee(USDC_100, FEE_BPS)
    const deposit = await intentOf(chain, agent, {
      tokenIn: chain.usdc,
      amountIn: USDC_100,
      tokenOut: vault,
      minOut: 1n,
      target: vault,
      data: encodeVaultDeposit(assets, agent.address),
    })
    expect(await revertReason(chain, await execute(chain, agent, deposit))).toBeNull()
    const shares = await balanceOf(chain, vault, agent.address)

    await chain.owner.client.increaseTime({ seconds: 31_536_000 })
    await chain.owner.client.mine({ blocks: 1 })
    const feeShares = routerFee(shares, FEE_BPS)
    const redeemed = await chain.owner.client.readContract({
      address: vault,
      abi: erc4626Abi,
      functionName: 'previewRedeem',
      args: [shares - feeShares],
    })
    const withdraw = await intentOf(chain, agent, {
      tokenIn: vault,
      amountIn: shares,
      tokenOut: chain.usdc,
      minOut: redeemed,
      target: vault,
      data: encodeVaultRedeem(shares - feeShares, agent.address, chain.router),
    })
    await expectExact(agent, withdraw, redeemed)
    // 5 % a year on the first deposit, shared with this later one.
    expect(redeemed).toBeGreaterThan((assets * 104n) / 100n)
    expect(await balanceOf(chain, vault, chain.feeRecipient)).toBe(feeShares)
  })

  it('takes no fee when none was signed, and rounds fees down', async () => {
    const agent = await createDelegatedAgent(chain)
    const vault = chain.world.vaults[0]?.address as Address
    for (const [amountIn, feeBps] of [
      [USDC_100, 0],
      [333n, 100],
      [99n, 100],
    ] as const) {
      const assets = amountIn - routerFee(amountIn, feeBps)
      const shares = await chain.owner.client.readContract({
        address: vault,
        abi: erc4626Abi,
        functionName: 'previewDeposit',
        args: [assets],
      })
      const intent = await intentOf(chain, agent, {
        ...{ tokenIn: chain.usdc, amountIn, feeBps, tokenOut: vault, minOut: shares },
        ...{ target: vault, data: encodeVaultDeposit(assets, agent.address) },
      })
      await expectExact(agent, intent, shares)
    }
  })

  it('lets the account send its own transactions after it has delegated', async () => {
    const agent = await createDelegatedAgent(chain)
    await chain.owner.client.setBalance({ address: agent.address, value: ETHER })
    const receipt = await chain.owner.client.sendTransactionSync({
      account: agent.key,
      to: chain.usdc,
      data: encodeFunctionData({
        abi: erc20Abi,
        functionName: 'transfer',
        args: [chain.feeRecipient, 1n],
      }),
    })
    expect(receipt.status).toBe('success')
  })
})
