import { encodeFunctionData, parseAbi } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import agentRouter from '../../src/contracts/generated/agent-router.json' with { type: 'json' }
import { encodeExecute } from '../../src/contracts/router-intent.js'
import { routerFee } from '../../src/contracts/router-intent-type.js'
import { encodeVaultDeposit, VAULT_SELECTORS } from '../../src/contracts/venue-calls.js'
import { NATIVE_TOKEN } from '../../src/domain/chains.js'
import type { Address } from '../../src/domain/ids.js'
import {
  allow,
  deployHostile,
  deployVenue,
  encodeTrade,
  hostileAbi,
  routerError,
  venueAbi,
} from './hostile-contracts.js'
import {
  type Agent,
  balanceOf,
  createDelegatedAgent,
  execute,
  FEE_BPS,
  intentOf,
  readRouter,
  revertReason,
  type SponsoredChain,
  sign,
  startSponsoredChain,
} from './sponsored-chain.js'

const AMOUNT = 1_000_000n
const NET = AMOUNT - routerFee(AMOUNT, FEE_BPS)

const redeemAbi = parseAbi([
  'function redeem(uint256 shares, address receiver, address owner) returns (uint256)',
  'function transferFrom(address from, address to, uint256 amount) returns (bool)',
])

let chain: SponsoredChain
let venue: Address
beforeAll(async () => {
  chain = await startSponsoredChain()
  venue = await deployVenue(chain)
})
afterAll(() => chain?.stop())

/** An honest deposit into the first vault, ready to be sent by whoever gets hold of it. */
async function signedDeposit(agent: Agent) {
  const vault = chain.world.vaults[0]?.address as Address
  const intent = await intentOf(chain, agent, {
    ...{ tokenIn: chain.usdc, amountIn: AMOUNT, tokenOut: vault, minOut: 1n, target: vault },
    data: encodeVaultDeposit(NET, agent.address),
  })
  const { user, co } = await sign(chain, agent, intent)
  return { intent, call: encodeExecute(intent, user, co) }
}

/** Arms a contract to run the call as a relayer, so that nothing but the guard is in its way. */
async function armAsRelayer(hostile: Address, call: `0x${string}`) {
  await chain.owner.write(chain.router, agentRouter.abi, 'addRelayers', [[hostile]])
  await chain.owner.write(hostile, hostileAbi, 'arm', [chain.router, call])
}

async function expectStopped(hostile: Address, victim: Agent, nonce: bigint) {
  const read = { address: hostile, abi: hostileAbi } as const
  expect(await chain.owner.client.readContract({ ...read, functionName: 'succeeded' })).toBe(false)
  expect(await chain.owner.client.readContract({ ...read, functionName: 'refusal' })).toBe(
    routerError('ReentrancyGuardReentrantCall'),
  )
  expect(await readRouter(chain, 'isNonceUsed', [victim.address, nonce])).toBe(false)
}

describe('a hostile token or venue', () => {
  it('cannot run another intent from inside a transfer', async () => {
    const agent = await createDelegatedAgent(chain)
    const victim = await createDelegatedAgent(chain)
    const token = await deployHostile(chain, 'CallbackToken')
    const vault = await deployHostile(chain, 'CallbackVault', token)
    await allow(chain, vault, VAULT_SELECTORS)
    await chain.owner.write(token, hostileAbi, 'mint', [agent.address, AMOUNT])
    const { intent: inner, call } = await signedDeposit(victim)
    await armAsRelayer(token, call)
    const outer = await intentOf(chain, agent, {
      ...{ tokenIn: token, amountIn: AMOUNT, tokenOut: vault, minOut: 1n, target: vault },
      data: encodeVaultDeposit(NET, agent.address),
    })
    expect(await revertReason(chain, await execute(chain, agent, outer))).toBeNull()
    await expectStopped(token, victim, inner.nonce)
  })

  it('cannot run another intent from inside a vault', async () => {
    const agent = await createDelegatedAgent(chain)
    const victim = await createDelegatedAgent(chain)
    const vault = await deployHostile(chain, 'CallbackVault', chain.usdc)
    await allow(chain, vault, VAULT_SELECTORS)
    const { intent: inner, call } = await signedDeposit(victim)
    await armAsRelayer(vault, call)
    const outer = await intentOf(chain, agent, {
      ...{ tokenIn: chain.usdc, amountIn: AMOUNT, tokenOut: vault, minOut: 1n, target: vault },
      data: encodeVaultDeposit(NET, agent.address),
    })
    expect(await revertReason(chain, await execute(chain, agent, outer))).toBeNull()
    await expectStopped(vault, victim, inner.nonce)
  })

  it('cannot keep a part of each transfer', async () => {
    const agent = await createDelegatedAgent(chain)
    const token = await deployHostile(chain, 'FeeOnTransferToken')
    await chain.owner.write(token, hostileAbi, 'mint', [agent.address, AMOUNT])
    const intent = await intentOf(chain, agent, {
      ...{ tokenIn: token, amountIn: AMOUNT, tokenOut: chain.usdc, minOut: 1n, target: venue },
      data: encodeTrade(token, 1n, chain.usdc, 0n, agent.address),
    })
    const receipt = await execute(chain, agent, intent)
    expect(await revertReason(chain, receipt)).toBe('UnexpectedAmountReceived')
    expect(await balanceOf(chain, token, agent.address)).toBe(AMOUNT)
  })

  it('cannot leave a part of the input in the Router', async () => {
    const agent = await createDelegatedAgent(chain)
    const token = chain.world.token.address
    await chain.owner.write(token, hostileAbi, 'mint', [venue, 10n])
    const trade = (taken: bigint) =>
      intentOf(chain, agent, {
        ...{ tokenIn: chain.usdc, amountIn: AMOUNT, tokenOut: token, minOut: 1n, target: venue },
        data: encodeTrade(chain.usdc, taken, token, 1n, agent.address),
      })
    const partial = await execute(chain, agent, await trade(NET - 1n))
    expect(await revertReason(chain, partial)).toBe('InputNotSpent')
    expect(await revertReason(chain, await execute(chain, agent, await trade(NET)))).toBeNull()
  })

  it('cannot take more than the net input, not even what somebody left in the Router', async () => {
    const agent = await createDelegatedAgent(chain)
    await chain.owner.write(chain.usdc, hostileAbi, 'mint', [chain.router, 10n * AMOUNT])
    const token = chain.world.token.address
    const base = { tokenIn: chain.usdc, amountIn: AMOUNT, tokenOut: token, minOut: 1n }
    const twice = await intentOf(chain, agent, {
      ...{ ...base, target: venue },
      data: encodeFunctionData({
        abi: venueAbi,
        functionName: 'takeTwice',
        args: [chain.usdc, NET],
      }),
    })
    expect(await revertReason(chain, await execute(chain, agent, twice))).not.toBeNull()
    const more = await intentOf(chain, agent, {
      ...{ ...base, target: venue },
      data: encodeTrade(chain.usdc, NET + 1n, token, 1n, agent.address),
    })
    expect(await revertReason(chain, await execute(chain, agent, more))).not.toBeNull()
    expect(await balanceOf(chain, chain.usdc, chain.router)).toBe(10n * AMOUNT)
  })

  it('takes amount_in and nothing else, of what the wallet has or others hold for it', async () => {
    const agent = await createDelegatedAgent(chain)
    const vault = chain.world.vaults[0]?.address as Address
    const { call: deposit } = await signedDeposit(agent)
    await chain.relayer.client.sendTransactionSync({ to: chain.router, data: deposit })
    const shares = await balanceOf(chain, vault, agent.address)
    expect(shares).toBeGreaterThan(0n)
    await chain.owner.client.setBalance({ address: agent.address, value: AMOUNT })
    const held = await balanceOf(chain, chain.usdc, agent.address)
    const token = chain.world.token.address
    await chain.owner.write(token, hostileAbi, 'mint', [venue, 1n])

    const stranger = privateKeyToAccount(generatePrivateKey()).address
    const redeem = {
      address: vault,
      abi: redeemAbi,
      functionName: 'redeem',
      args: [shares, stranger, agent.address],
    } as const
    // The wallet itself could give it away: what keeps it is who asks.
    await chain.owner.client.simulateContract({ ...redeem, account: agent.address })
    const take = {
      abi: redeemAbi,
      functionName: 'transferFrom',
      args: [agent.address, stranger, 1n],
    } as const
    const asked = [
      [vault, encodeFunctionData(redeem)],
      [chain.usdc, encodeFunctionData(take)],
      [vault, encodeFunctionData(take)],
    ] as const
    const intent = await intentOf(chain, agent, {
      ...{ tokenIn: chain.usdc, amountIn: AMOUNT, tokenOut: token, minOut: 1n, target: venue },
      data: encodeFunctionData({
        abi: venueAbi,
        functionName: 'tradeAmid',
        args: [
          ...([chain.usdc, NET, token, agent.address] as const),
          asked.map(([target]) => target),
          asked.map(([, data]) => data),
        ],
      }),
    })
    expect(await revertReason(chain, await execute(chain, agent, intent))).toBeNull()

    const read = { address: venue, abi: venueAbi, functionName: 'wentThrough' } as const
    expect(await chain.owner.client.readContract(read)).toBe(0n)
    expect(await balanceOf(chain, chain.usdc, agent.address)).toBe(held - AMOUNT)
    expect(await balanceOf(chain, vault, agent.address)).toBe(shares)
    expect(await balanceOf(chain, NATIVE_TOKEN, agent.address)).toBe(AMOUNT)
    expect(await balanceOf(chain, chain.usdc, stranger)).toBe(0n)
  })

  it('cannot hand native input back to the Router', async () => {
    const agent = await createDelegatedAgent(chain)
    await chain.owner.client.setBalance({ address: agent.address, value: AMOUNT })
    const intent = await intentOf(chain, agent, {
      ...{ tokenIn: NATIVE_TOKEN, amountIn: AMOUNT, tokenOut: chain.usdc, minOut: 1n },
      ...{ target: venue, data: encodeFunctionData({ abi: venueAbi, functionName: 'refund' }) },
    })
    expect(await revertReason(chain, await execute(chain, agent, intent))).toBe('InputNotSpent')
    expect(await balanceOf(chain, NATIVE_TOKEN, agent.address)).toBe(AMOUNT)
  })
})

describe('a token that only looks odd', () => {
  it('is served when it returns nothing and approves from zero only, as USDT does', async () => {
    const agent = await createDelegatedAgent(chain)
    const token = await deployHostile(chain, 'NoReturnToken')
    await chain.owner.write(token, hostileAbi, 'mint', [agent.address, 2n * AMOUNT])
    await chain.owner.write(chain.world.token.address, hostileAbi, 'mint', [venue, 2n])
    for (let i = 0; i < 2; i++) {
      const intent = await intentOf(chain, agent, {
        ...{ tokenIn: token, amountIn: AMOUNT, tokenOut: chain.world.token.address, minOut: 1n },
        ...{
          target: venue,
          data: encodeTrade(token, NET, chain.world.token.address, 1n, agent.address),
        },
      })
      expect(await revertReason(chain, await execute(chain, agent, intent))).toBeNull()
    }
    expect(await balanceOf(chain, token, agent.address)).toBe(0n)
  })
})
