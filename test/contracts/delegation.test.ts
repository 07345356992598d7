import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { delegateOf, delegationCode } from '../../src/contracts/delegation.js'
import { encodeExecute } from '../../src/contracts/router-intent.js'
import { routerFee } from '../../src/contracts/router-intent-type.js'
import { encodeVaultDeposit } from '../../src/contracts/venue-calls.js'
import type { Address } from '../../src/domain/ids.js'
import {
  authorization,
  createAgent,
  FEE_BPS,
  intentOf,
  type SponsoredChain,
  sign,
  startSponsoredChain,
} from './sponsored-chain.js'

const AMOUNT = 1_000_000n
const GAS_MARGIN_PERCENT = 130n

let chain: SponsoredChain
beforeAll(async () => {
  chain = await startSponsoredChain()
})
afterAll(() => chain?.stop())

async function signedCall(agent: Awaited<ReturnType<typeof createAgent>>) {
  const vault = chain.world.vaults[0]?.address as Address
  const intent = await intentOf(chain, agent, {
    ...{ tokenIn: chain.usdc, amountIn: AMOUNT, tokenOut: vault, minOut: 1n, target: vault },
    data: encodeVaultDeposit(AMOUNT - routerFee(AMOUNT, FEE_BPS), agent.address),
  })
  const { user, co } = await sign(chain, agent, intent)
  return { intent, data: encodeExecute(intent, user, co) }
}

describe('delegation', () => {
  it('reads the delegate out of an account code, and out of nothing else', async () => {
    expect(delegateOf(delegationCode(chain.delegate))).toBe(chain.delegate)
    expect(delegateOf(undefined)).toBeNull()
    expect(delegateOf('0x')).toBeNull()
    expect(delegateOf(await chain.owner.client.getCode({ address: chain.router }))).toBeNull()
    const agent = await createAgent(chain)
    const at = { address: agent.address }
    expect(delegateOf(await chain.owner.client.getCode(at))).toBeNull()
  })

  it('lets a first use be simulated, and its gas estimated, before anything is signed away', async () => {
    const agent = await createAgent(chain)
    const { data } = await signedCall(agent)
    // An address, not a local account: viem prepares transactions of those without the override.
    const call = { account: chain.relayer.account.address, to: chain.router, data } as const
    await expect(chain.owner.client.call(call)).rejects.toThrow()
    const stateOverride = [{ address: agent.address, code: delegationCode(chain.delegate) }]
    const { data: answer } = await chain.owner.client.call({ ...call, stateOverride })
    expect(BigInt(answer ?? 0)).toBeGreaterThan(0n)

    // Without the authorization in it, the estimate misses what the delegation costs: 25,000
    // (EIP-7702) and its calldata, half of it refunded for accounts that exist.
    const estimate = await chain.owner.client.estimateGas({ ...call, stateOverride })
    const authorizationList = [await authorization(chain, agent)]
    const whole = await chain.owner.client.estimateGas({ ...call, authorizationList })
    expect(whole - estimate).toBeGreaterThan(10_000n)
    expect(whole - estimate).toBeLessThan(40_000n)
    const receipt = await chain.relayer.client.sendTransactionSync({
      ...{ to: chain.router, data, authorizationList },
      gas: (whole * GAS_MARGIN_PERCENT) / 100n,
    })
    expect(receipt.status).toBe('success')
  })

  it('stays when the first intent reverts, and the account nonce is used', async () => {
    const agent = await createAgent(chain)
    const { intent } = await signedCall(agent)
    const { user, co } = await sign(chain, agent, { ...intent, minOut: 10n ** 30n })
    const receipt = await chain.relayer.client.sendTransactionSync({
      to: chain.router,
      data: encodeExecute({ ...intent, minOut: 10n ** 30n }, user, co),
      gas: 1_000_000n,
      authorizationList: [await authorization(chain, agent)],
    })
    expect(receipt.status).toBe('reverted')
    const at = { address: agent.address }
    expect(delegateOf(await chain.owner.client.getCode(at))).toBe(chain.delegate)
    expect(await chain.owner.client.getTransactionCount(at)).toBe(1)
  })

  it('for another chain is skipped, and the intent is refused', async () => {
    const agent = await createAgent(chain)
    const { data } = await signedCall(agent)
    const elsewhere = await agent.key.signAuthorization({
      ...{ chainId: 1, address: chain.delegate, nonce: 0 },
    })
    const receipt = await chain.relayer.client.sendTransactionSync({
      ...{ to: chain.router, data, gas: 1_000_000n, authorizationList: [elsewhere] },
    })
    expect(receipt.status).toBe('reverted')
    expect(delegateOf(await chain.owner.client.getCode({ address: agent.address }))).toBeNull()
  })
})
