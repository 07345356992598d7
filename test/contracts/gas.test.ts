import { encodeFunctionData } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openChainWriter } from '../../scripts/contracts/chain-writer.js'
import { erc20Abi } from '../../src/contracts/abis/erc20.js'
import { routerFee } from '../../src/contracts/router-intent-type.js'
import {
  encodeSwap,
  encodeSwapToNative,
  encodeVaultDeposit,
  encodeVaultRedeem,
} from '../../src/contracts/venue-calls.js'
import { NATIVE_TOKEN } from '../../src/domain/chains.js'
import type { Address, Hex } from '../../src/domain/ids.js'
import {
  type Agent,
  authorization,
  balanceOf,
  createAgent,
  execute,
  FEE_BPS,
  intentOf,
  revertReason,
  type SponsoredChain,
  startSponsoredChain,
  type Terms,
} from './sponsored-chain.js'

/**
 * Prints what sponsored flows cost next to the same done plainly, from an account that pays its own
 * gas (`node scripts/run.mjs --test test/contracts/gas.test.ts`), and fails when one grows past
 * its bound. Bounds leave a twentieth for differences of pool state; lower them with the code.
 */
const GAS_MAX: Readonly<Record<string, number>> = {
  'swap, first use (delegates)': 262_000,
  swap: 204_000,
  'gas swap (USDC to native)': 229_000,
  'vault deposit, first': 176_000,
  'vault deposit': 160_000,
  'vault withdrawal': 152_000,
  'delegation alone': 38_000,
}

const AMOUNT = 100_000_000n

let chain: SponsoredChain
beforeAll(async () => {
  chain = await startSponsoredChain()
})
afterAll(() => chain?.stop())

it('costs no more gas than its bounds', async () => {
  const vault = chain.world.vaults[0]?.address as Address
  const net = AMOUNT - routerFee(AMOUNT, FEE_BPS)
  const swap = (recipient: Address, amountIn: bigint) => ({
    ...{ tokens: [chain.usdc, chain.wrapped], poolFees: [500], recipient, amountIn, minOut: 1n },
  })
  const agent = await createAgent(chain)
  const toSwap: Terms = {
    ...{ tokenIn: chain.usdc, amountIn: AMOUNT, tokenOut: chain.wrapped, minOut: 1n },
    ...{ target: chain.world.swap.router, data: encodeSwap(swap(agent.address, net)) },
  }
  const toNative: Terms = {
    ...{ ...toSwap, tokenOut: NATIVE_TOKEN },
    data: encodeSwapToNative(swap(agent.address, net)),
  }
  const toDeposit = depositOf(agent, vault)
  // A relayer's and the fee recipient's first balances cost extra once, for everybody.
  await warmUp(vault)

  const sponsored: Record<string, bigint> = {
    'swap, first use (delegates)': await gasOf(agent, toSwap, 'delegates'),
    swap: await gasOf(agent, toSwap),
    'gas swap (USDC to native)': await gasOf(agent, toNative),
    'vault deposit, first': await gasOf(agent, toDeposit),
    'vault deposit': await gasOf(agent, toDeposit),
  }
  const shares = (await balanceOf(chain, vault, agent.address)) / 2n
  sponsored['vault withdrawal'] = await gasOf(agent, withdrawalOf(agent, vault, shares))
  sponsored['delegation alone'] = await delegationGas()

  const plain = await plainGas(vault, swap)
  const rows = Object.entries(sponsored).map(([flow, gas]) => {
    const own = plain[flow.replace(/,.*/, '')]
    return `| ${flow} | ${gas} | ${own ?? ''} | ${own === undefined ? '' : gas - own} |`
  })
  console.log(
    ['| flow | sponsored | plain | difference |', '|---|---|---|---|', ...rows].join('\n'),
  )
  for (const [flow, bound] of Object.entries(GAS_MAX)) {
    expect(Number(sponsored[flow]), flow).toBeLessThanOrEqual(bound)
  }
})

async function gasOf(agent: Agent, terms: Terms, first?: 'delegates'): Promise<bigint> {
  const intent = await intentOf(chain, agent, terms)
  const receipt = await execute(chain, agent, intent, { delegates: first === 'delegates' })
  expect(await revertReason(chain, receipt)).toBeNull()
  return receipt.gasUsed
}

async function warmUp(vault: Address) {
  const other = await createAgent(chain)
  await gasOf(other, depositOf(other, vault), 'delegates')
  await gasOf(other, withdrawalOf(other, vault, await balanceOf(chain, vault, other.address)))
}

function depositOf(agent: Agent, vault: Address): Terms {
  const net = AMOUNT - routerFee(AMOUNT, FEE_BPS)
  return {
    ...{ tokenIn: chain.usdc, amountIn: AMOUNT, tokenOut: vault, minOut: 1n, target: vault },
    data: encodeVaultDeposit(net, agent.address),
  }
}

function withdrawalOf(agent: Agent, vault: Address, shares: bigint): Terms {
  const net = shares - routerFee(shares, FEE_BPS)
  return {
    ...{ tokenIn: vault, amountIn: shares, tokenOut: chain.usdc, minOut: 1n, target: vault },
    data: encodeVaultRedeem(net, agent.address, chain.router),
  }
}

async function delegationGas(): Promise<bigint> {
  const agent = await createAgent(chain)
  const receipt = await chain.relayer.client.sendTransactionSync({
    to: agent.address,
    gas: 100_000n,
    authorizationList: [await authorization(chain, agent)],
  })
  return receipt.gasUsed
}

/** Approval and call by an account with native currency of its own; the second of each kind. */
async function plainGas(
  vault: Address,
  swap: (recipient: Address, amountIn: bigint) => Parameters<typeof encodeSwap>[0],
): Promise<Record<string, bigint>> {
  const agent = await createAgent(chain)
  await chain.owner.client.setBalance({ address: agent.address, value: 10n ** 18n })
  const self = openChainWriter(chain.anvil.url, chain.chainId, agent.key)
  const { router } = chain.world.swap
  const run = async (target: Address, data: Hex, approved?: bigint) => {
    let gas = 0n
    if (approved !== undefined) {
      const approve = encodeFunctionData({
        abi: erc20Abi,
        functionName: 'approve',
        args: [target, approved],
      })
      gas += (await self.send({ to: chain.usdc, data: approve })).gasUsed
    }
    return gas + (await self.send({ to: target, data })).gasUsed
  }
  const swapData = encodeSwap(swap(agent.address, AMOUNT))
  const nativeData = encodeSwapToNative(swap(agent.address, AMOUNT))
  const depositData = encodeVaultDeposit(AMOUNT, agent.address)
  await run(router, swapData, AMOUNT)
  await run(vault, depositData, AMOUNT)
  const gas = {
    swap: await run(router, swapData, AMOUNT),
    'gas swap (USDC to native)': await run(router, nativeData, AMOUNT),
    'vault deposit': await run(vault, depositData, AMOUNT),
  }
  const shares = (await balanceOf(chain, vault, agent.address)) / 2n
  const redeem = encodeVaultRedeem(shares, agent.address, agent.address)
  return { ...gas, 'vault withdrawal': await run(vault, redeem) }
}
