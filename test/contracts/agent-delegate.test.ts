import { hashTypedData, keccak256, toHex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openChainWriter } from '../../scripts/contracts/chain-writer.js'
import {
  CREATE2_PROXY,
  delegateDeployment,
  routerDeployment,
} from '../../src/contracts/deployment.js'
import agentDelegate from '../../src/contracts/generated/agent-delegate.json' with { type: 'json' }
import agentRouter from '../../src/contracts/generated/agent-router.json' with { type: 'json' }
import { routerIntentDigest, routerIntentTypedData } from '../../src/contracts/router-intent.js'
import { ROUTER_INTENT_TYPE, routerFee } from '../../src/contracts/router-intent-type.js'
import { encodeVaultDeposit } from '../../src/contracts/venue-calls.js'
import { NATIVE_TOKEN } from '../../src/domain/chains.js'
import type { Address } from '../../src/domain/ids.js'
import {
  balanceOf,
  createDelegatedAgent,
  execute,
  FEE_BPS,
  intentOf,
  readRouter,
  refusalOf,
  revertReason,
  type SponsoredChain,
  startSponsoredChain,
} from './sponsored-chain.js'

const AMOUNT = 1_000_000n

let chain: SponsoredChain
beforeAll(async () => {
  chain = await startSponsoredChain()
})
afterAll(() => chain?.stop())

async function deposit(agent: Awaited<ReturnType<typeof createDelegatedAgent>>) {
  const vault = chain.world.vaults[0]?.address as Address
  return intentOf(chain, agent, {
    ...{ tokenIn: chain.usdc, amountIn: AMOUNT, tokenOut: vault, minOut: 1n, target: vault },
    data: encodeVaultDeposit(AMOUNT - routerFee(AMOUNT, FEE_BPS), agent.address),
  })
}

describe('AgentDelegate', () => {
  it('lets nobody but the Router pull, not even with a valid signature', async () => {
    const agent = await createDelegatedAgent(chain)
    const { data, ...terms } = await deposit(agent)
    const intent = { ...terms, dataHash: keccak256(data) }
    const digest = routerIntentDigest(chain.chainId, chain.router, { ...terms, data })
    const { r, s, yParity } = parse(await agent.key.sign({ hash: digest }))
    const pull = (account: Address, signature: { r: `0x${string}`; vs: `0x${string}` }) =>
      refusalOf(
        chain.owner.client.simulateContract({
          account,
          address: agent.address,
          abi: agentDelegate.abi,
          functionName: 'pull',
          args: [intent, signature],
        }),
      )

    const vs = toHex(BigInt(s) | (BigInt(yParity) << 255n), { size: 32 })
    expect(await pull(chain.relayer.account.address, { r, vs })).toBe('OnlyRouter')
    expect(await pull(chain.owner.account.address, { r, vs })).toBe('OnlyRouter')
    expect(await pull(agent.address, { r, vs })).toBe('OnlyRouter')
    // The Router itself: with the signature it may, without it even a faulty Router may not.
    expect(await pull(chain.router, { r, vs })).toBeNull()
    expect(await pull(chain.router, { r, vs: s })).toBe(
      yParity === 0 ? null : 'InvalidUserSignature',
    )
    expect(await pull(chain.router, { r: vs, vs: r })).toBe('InvalidUserSignature')
  })

  it('refuses an intent of another account, also at its own bare address', async () => {
    const [agent, other] = [await createDelegatedAgent(chain), await createDelegatedAgent(chain)]
    const { data, ...terms } = await deposit(other)
    for (const address of [agent.address, chain.delegate]) {
      const attempt = chain.owner.client.simulateContract({
        account: chain.router,
        address,
        abi: agentDelegate.abi,
        functionName: 'pull',
        args: [
          { ...terms, dataHash: keccak256(data) },
          { r: toHex(1n, { size: 32 }), vs: toHex(1n, { size: 32 }) },
        ],
      })
      expect(await refusalOf(attempt)).toBe('NotThisAccount')
    }
  })

  it('answers EIP-1271 for the account key and nobody else', async () => {
    const agent = await createDelegatedAgent(chain)
    const hash = keccak256('0x1234')
    const ask = (signature: `0x${string}`) =>
      chain.owner.client.readContract({
        address: agent.address,
        abi: agentDelegate.abi,
        functionName: 'isValidSignature',
        args: [hash, signature],
      })
    expect(await ask(await agent.key.sign({ hash }))).toBe('0x1626ba7e')
    const stranger = privateKeyToAccount(generatePrivateKey())
    expect(await ask(await stranger.sign({ hash }))).toBe('0xffffffff')
    expect(await ask('0x')).toBe('0xffffffff')
  })

  it('takes native currency within the stipend of a plain transfer', async () => {
    const agent = await createDelegatedAgent(chain)
    await chain.owner.send({ to: agent.address, data: '0x', value: 5n })
    expect(await balanceOf(chain, NATIVE_TOKEN, agent.address)).toBe(5n)
  })

  it('loses its power over an account that delegates elsewhere', async () => {
    const agent = await createDelegatedAgent(chain)
    const successor = delegateDeployment(chain.owner.account.address)
    await chain.owner.send(successor.transaction)
    await chain.relayer.client.sendTransactionSync({
      to: agent.address,
      gas: 100_000n,
      authorizationList: [
        await agent.key.signAuthorization({
          chainId: chain.chainId,
          address: successor.address,
          nonce: await chain.owner.client.getTransactionCount({ address: agent.address }),
        }),
      ],
    })
    const receipt = await execute(chain, agent, await deposit(agent))
    expect(await revertReason(chain, receipt)).toBe('OnlyRouter')
  })
})

describe('deployment', () => {
  it('has the addresses that the pure functions say, whoever sends the transaction', async () => {
    const owner = privateKeyToAccount(generatePrivateKey()).address
    const router = routerDeployment(owner)
    const delegate = delegateDeployment(router.address)
    const account = privateKeyToAccount(generatePrivateKey())
    const anyone = openChainWriter(chain.anvil.url, chain.chainId, account)
    await anyone.client.setBalance({ address: account.address, value: 10n ** 18n })
    for (const { transaction, address } of [router, delegate]) {
      expect(transaction.to).toBe(CREATE2_PROXY)
      await anyone.send(transaction)
      expect(await chain.owner.client.getCode({ address })).toBeDefined()
    }
    const read = chain.owner.client.readContract
    expect(
      await read({ address: router.address, abi: agentRouter.abi, functionName: 'owner' }),
    ).toBe(owner)
    expect(
      await read({ address: delegate.address, abi: agentDelegate.abi, functionName: 'ROUTER' }),
    ).toBe(router.address)
  })

  it('hashes an intent as the typed data says', async () => {
    const agent = await createDelegatedAgent(chain)
    const intent = await deposit(agent)
    const { data, ...terms } = intent
    const onChain = await readRouter(chain, 'digestOf', [{ ...terms, dataHash: keccak256(data) }])
    expect(onChain).toBe(routerIntentDigest(chain.chainId, chain.router, intent))
    expect(onChain).toBe(hashTypedData(routerIntentTypedData(chain.chainId, chain.router, intent)))
    expect(ROUTER_INTENT_TYPE).toBe(
      'Intent(address account,address tokenIn,uint256 amountIn,uint16 feeBps,address tokenOut,uint256 minOut,address target,uint256 nonce,uint48 deadline,bytes data)',
    )
    const [, name, version, chainId, verifyingContract] = await chain.owner.client.readContract({
      address: chain.router,
      abi: agentRouter.abi,
      functionName: 'eip712Domain',
    })
    expect(routerIntentTypedData(chain.chainId, chain.router, intent).domain).toEqual({
      ...{ name, version, verifyingContract },
      chainId: Number(chainId),
    })
  })
})

function parse(signature: `0x${string}`) {
  const v = Number.parseInt(signature.slice(130, 132), 16)
  const r: `0x${string}` = `0x${signature.slice(2, 66)}`
  const s: `0x${string}` = `0x${signature.slice(66, 130)}`
  return { r, s, yParity: v - 27 }
}
