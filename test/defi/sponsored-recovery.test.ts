import { getAddress, parseEther, parseGwei } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ChainWriter, openChainWriter } from '../../scripts/contracts/chain-writer.js'
import { BLOCK_TIME_MS } from '../../scripts/dev/chains/block-ticker.js'
import { deployerAccount } from '../../scripts/dev/chains/deployer.js'
import { devHome } from '../../scripts/dev/home/layout.js'
import { readChainsFile } from '../../src/config/chains.js'
import { delegateOf } from '../../src/contracts/delegation.js'
import agentRouter from '../../src/contracts/generated/agent-router.json' with { type: 'json' }
import { readGasWalletsFile } from '../../src/defi/gas-wallets-file.js'
import { gasWalletsFor } from '../../src/domain/gas-wallets.js'
import type { Address, Hex, SubWalletId } from '../../src/domain/ids.js'
import { finalOf, type Stack, startStack } from '../e2e/stack.js'
import { checkWhole } from '../faults/block-maker.js'
import { type Chain, chainOf, give, newWallet, type SponsoredWallet } from './sponsored-wallet.js'

/** What goes wrong between a signed intent and its end, on real chains that are made to. */

const ETHEREUM = 1
const OPTIMISM = 10
const BNB = 56
const POLYGON = 137
const BASE = 8453
const ARRANGEMENTS_MAX = 10
const WAIT = { timeout: 60_000, interval: 200 }
/** The next looks for idle accounts, once one has rested for UNDELEGATE_HOURS. */
const LOOK_WAIT = { timeout: 110_000, interval: 2_000 }
/** Two looks with this much between see a block that a tick had yet to mine. */
const TICK_WAIT = { timeout: 60_000, interval: 2 * BLOCK_TIME_MS }

/** 36 seconds without a sponsored call: longer than one of these wallets rests between two. */
const UNDELEGATE_HOURS = '0.01'

let stack: Stack
/** Has delegated, and makes no sponsored call while the other tests run. */
let idle: SponsoredWallet

beforeAll(async () => {
  stack = await startStack({ COUNTERSIGN_UNDELEGATE_HOURS: UNDELEGATE_HOURS })
  const chain = chainOf(stack, OPTIMISM)
  idle = await funded(chain)
  await give(stack, OPTIMISM, idle.address, '1', 'native')
  await swapped(idle, chain, chain.oneUsdc)
  expect(delegateOf(await chain.client.getCode({ address: idle.address }))).toBe(chain.delegate)
})

afterAll(async () => {
  await stack?.service.stop()
})

/** The account that owns Routers and tokens of the development chains. */
function ownerOf(chain: Chain): ChainWriter {
  const home = devHome({ COUNTERSIGN_HOME: stack.service.home })
  const config = readChainsFile(home.chainsFile).chains.find(({ id }) => id === chain.id)
  return openChainWriter(config?.rpc_urls[0] ?? '', chain.id, deployerAccount(home))
}

function gasWalletsOf(chain: Chain): readonly Address[] {
  return readGasWalletsFile(stack.service.home)[chain.id] ?? []
}

/** The gas wallet that this sub-wallet asks first. */
function firstGasWallet(chain: Chain, { subWalletId }: SponsoredWallet): Address {
  const [first = ''] = gasWalletsFor(chain.id, subWalletId as SubWalletId)
  const found = gasWalletsOf(chain)[Number(first.split(':')[1])]
  if (found === undefined) throw new Error(`no gas wallet ${first}`)
  return found
}

async function funded(chain: Chain, usdc = '20'): Promise<SponsoredWallet> {
  const wallet = await newWallet(stack)
  await give(stack, chain.id, wallet.address, usdc, 'USDC')
  return wallet
}

function swap({ key }: SponsoredWallet, chain: Chain, amount: bigint, more: object = {}) {
  return key.api.post('/api/swap/execute', {
    chain_id: chain.id,
    token_in: chain.usdc,
    token_out: chain.wrapped,
    amount_in: amount.toString(),
    ...more,
  })
}

/** Of a chain that does not mine by itself meanwhile; a tick that had begun mines its block first. */
async function reorgFrom(client: ChainWriter['client'], first: bigint): Promise<void> {
  const call = (method: string, params: readonly unknown[]) =>
    client.request({ method, params } as never)
  let head: bigint | null = null
  await expect
    .poll(async () => {
      const before = head
      head = await client.getBlockNumber({ cacheTime: 0 })
      return head === before
    }, TICK_WAIT)
    .toBe(true)
  const depth = Number((await client.getBlockNumber({ cacheTime: 0 })) - first) + 1
  await call('anvil_reorg', [depth, []])
  await checkWhole('the chain', call)
}

async function swapped(wallet: SponsoredWallet, chain: Chain, amount: bigint) {
  const sent = await swap(wallet, chain, amount)
  const done = await finalOf(wallet.key.api, sent.json.tx_id)
  expect(done, sent.text).toMatchObject({ status: 'confirmed' })
  return done
}

it('passes an empty gas wallet over, and says so when all of them are', async () => {
  const chain = chainOf(stack, BNB)
  const { client } = ownerOf(chain)
  const wallet = await funded(chain)
  const empty = firstGasWallet(chain, wallet)
  await client.setBalance({ address: empty, value: 0n })
  const done = await swapped(wallet, chain, chain.oneUsdc)
  const carried = await client.getTransaction({ hash: done.tx_hash as Hex })
  expect(gasWalletsOf(chain)).toContain(getAddress(carried.from))
  expect(getAddress(carried.from)).not.toBe(getAddress(empty))

  for (const address of gasWalletsOf(chain)) await client.setBalance({ address, value: 0n })
  const refused = await swap(wallet, chain, chain.oneUsdc)
  expect([refused.status, refused.code], refused.text).toEqual([503, 'CHAIN_UNAVAILABLE'])
  const limits = await wallet.key.api.get('/api/limits')
  expect(limits.json).toMatchObject({ reserved_usd: '0.00', daily_used_usd: '1.00' })
  const budgets = await stack.owner.get(`/wallets/${wallet.subWalletId}/gas`)
  expect(budgets.json, budgets.text).toEqual(limits.json.sponsored_gas)
  expect(Number(budgets.json.daily_used_usd)).toBeGreaterThan(0)
  for (const address of gasWalletsOf(chain)) {
    await client.setBalance({ address, value: parseEther('1000') })
  }
  await swapped(wallet, chain, chain.oneUsdc)
})

it('cancels a reverted intent on chain: its spend is free long before the deadline', async () => {
  const chain = chainOf(stack, OPTIMISM)
  const wallet = await revertedByPause(chain)
  await expect
    .poll(async () => (await wallet.key.api.get('/api/limits')).json.reserved_usd, WAIT)
    .toBe('0.00')
  const limits = await wallet.key.api.get('/api/limits')
  expect(limits.json).toMatchObject({ daily_used_usd: '1.00' })
  // The first swap used nonce 0; the second's was never executed.
  const isUsed = await chain.client.readContract({
    address: chain.router as Address,
    abi: agentRouter.abi,
    functionName: 'isNonceUsed',
    args: [wallet.address, 1n],
  })
  expect(isUsed).toBe(true)
  await swapped(wallet, chain, chain.oneUsdc)
})

/** A wallet whose second swap was mined after the Router had been paused. */
async function revertedByPause(chain: Chain): Promise<SponsoredWallet> {
  const owner = ownerOf(chain)
  const router = chain.router as Address
  const automine = (on: boolean) =>
    owner.client.request({ method: 'evm_setAutomine', params: [on] } as never)
  for (let tries = 0; tries < ARRANGEMENTS_MAX; tries++) {
    const wallet = await funded(chain)
    await swapped(wallet, chain, chain.oneUsdc)
    await automine(false)
    const [sent] = await Promise.all([
      swap(wallet, chain, chain.oneUsdc),
      owner.client.writeContract({
        ...{ address: router, abi: agentRouter.abi, functionName: 'pause', gas: 100_000n },
        ...{ maxFeePerGas: parseGwei('90'), maxPriorityFeePerGas: parseGwei('90') },
      }),
    ])
    await automine(true)
    await owner.client.mine({ blocks: 1 })
    const end =
      sent.json.tx_id === undefined ? null : await finalOf(wallet.key.api, sent.json.tx_id)
    await owner.write(router, agentRouter.abi, 'unpause', [])
    if (end?.status === 'failed') return wallet
  }
  throw new Error('no swap was mined after the pause')
}

it('answers SLIPPAGE_EXCEEDED when the price has moved past a quote, and moves nothing', async () => {
  const chain = chainOf(stack, BASE)
  const wallet = await funded(chain)
  const mover = await funded(chain, '400000')
  const quote = await wallet.key.api.post('/api/swap/quote', {
    ...{ chain_id: BASE, token_in: chain.usdc, token_out: chain.wrapped },
    ...{ amount_in: chain.oneUsdc.toString(), slippage_bps: 10 },
  })
  // What moves the price loses by it: the key says that it may.
  const unbound = { policy: { rules: [], default: 'allow', max_swap_loss_bps: null } }
  const path = `/keys/${mover.key.keyId}`
  expect((await stack.owner.call('PATCH', path, { body: unbound })).status).toBe(200)
  const moved = await swap(mover, chain, 400_000n * chain.oneUsdc, { slippage_bps: 5_000 })
  expect(await finalOf(mover.key.api, moved.json.tx_id), moved.text).toMatchObject({
    status: 'confirmed',
  })
  const { quote_id } = quote.json
  const late = await wallet.key.api.post('/api/swap/execute', { quote_id })
  expect([late.status, late.code], late.text).toEqual([422, 'SLIPPAGE_EXCEEDED'])
  expect(await chain.balance(chain.usdc, wallet.address)).toBe(20n * chain.oneUsdc)
  const limits = await wallet.key.api.get('/api/limits')
  expect(limits.json).toMatchObject({ reserved_usd: '0.00', daily_used_usd: '0.00' })
})

it('refuses a sub-wallet whose gas of the day is used up, with the budget and its reset', async () => {
  const chain = chainOf(stack, ETHEREUM)
  const { client } = ownerOf(chain)
  const wallet = await funded(chain)
  // Each block that came by itself would have a lower fee.
  await client.setAutomine(false)
  let refused: Awaited<ReturnType<typeof swap>>
  try {
    await expect
      .poll(async () => {
        await client.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei('450') })
        await client.mine({ blocks: 1 })
        const gas = await wallet.key.api.get(`/api/gas/estimate?chain_id=${ETHEREUM}`)
        return BigInt(String(gas.json.gas_price_wei)) > parseGwei('300')
      }, WAIT)
      .toBe(true)
    refused = await swap(wallet, chain, chain.oneUsdc)
  } finally {
    await client.setAutomine(true)
  }
  expect([refused.status, refused.code], refused.text).toEqual([429, 'RATE_LIMITED'])
  expect(refused.json.error?.details).toMatchObject({
    budget: 'sponsored_gas',
    resets_at: expect.stringMatching(/T00:00:00\.000Z$/),
    retry_after_seconds: expect.any(Number),
  })
  expect(refused.text).toContain('gas that the service pays')
  const limits = await wallet.key.api.get('/api/limits')
  expect(limits.json).toMatchObject({ reserved_usd: '0.00', daily_used_usd: '0.00' })
})

it('replaces a first, delegating transaction whose fee has become too low', async () => {
  const chain = chainOf(stack, POLYGON)
  const { client } = ownerOf(chain)
  const wallet = await funded(chain)
  // Nothing is mined until the transaction waits at the node, so its fee knows nothing of the next.
  await client.setAutomine(false)
  const sent = await swap(wallet, chain, chain.oneUsdc)
  try {
    await expect.poll(async () => (await client.getTxpoolStatus()).pending, WAIT).toBe(1)
    await client.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei('900') })
  } finally {
    await client.setAutomine(true)
  }
  const done = await finalOf(wallet.key.api, sent.json.tx_id)
  expect(done, sent.text).toMatchObject({ status: 'confirmed' })
  expect(done.replaced_hashes).not.toEqual([])
  const carried = await client.getTransaction({ hash: done.tx_hash as Hex })
  expect(carried.type).toBe('eip7702')
  expect(carried.authorizationList).toHaveLength(1)
  expect(await client.getCode({ address: wallet.address })).toMatch(/^0xef0100/)
})

it('opens a settled call again when its block is reorganised away, and settles it once', async () => {
  const chain = chainOf(stack, BASE)
  const { client } = ownerOf(chain)
  const wallet = await funded(chain)
  await swapped(wallet, chain, chain.oneUsdc)
  const done = await swapped(wallet, chain, 2n * chain.oneUsdc)
  const receipt = await client.getTransactionReceipt({ hash: done.tx_hash as Hex })
  await client.setAutomine(false)
  try {
    await reorgFrom(client, receipt.blockNumber)
  } finally {
    await client.setAutomine(true)
  }
  const replaced = await client.getBlock({ blockNumber: receipt.blockNumber })
  expect(replaced.hash).not.toBe(receipt.blockHash)
  // Gone on chain, and taken again: the same intent, so no second payment.
  await expect.poll(() => chain.balance(chain.usdc, wallet.address), WAIT).toBe(17n * chain.oneUsdc)
  const again = await finalOf(wallet.key.api, done.tx_id)
  expect(again).toMatchObject({ status: 'confirmed', spend_usd: '2.00' })
  const anew = await client.getTransactionReceipt({ hash: again.tx_hash as Hex })
  expect(anew.blockHash).not.toBe(receipt.blockHash)
  await expect
    .poll(async () => (await wallet.key.api.get('/api/limits')).json, WAIT)
    .toMatchObject({ reserved_usd: '0.00', daily_used_usd: '3.00' })
})

it('keeps what was refused refused: the next start does not execute it', async () => {
  const chain = chainOf(stack, BNB)
  const { client } = ownerOf(chain)
  const wallet = await funded(chain)
  await swapped(wallet, chain, chain.oneUsdc)
  for (const address of gasWalletsOf(chain)) await client.setBalance({ address, value: 0n })
  const refused = await swap(wallet, chain, 5n * chain.oneUsdc)
  expect([refused.status, refused.code], refused.text).toEqual([503, 'CHAIN_UNAVAILABLE'])
  for (const address of gasWalletsOf(chain)) {
    await client.setBalance({ address, value: parseEther('1000') })
  }
  await stack.service.killAndAwaitRestart('service')
  await swapped(wallet, chain, 2n * chain.oneUsdc)
  // Each start had given its reservation back, too.
  await stack.service.killAndAwaitRestart('service')
  await swapped(wallet, chain, 3n * chain.oneUsdc)
  expect(await chain.balance(chain.usdc, wallet.address)).toBe(14n * chain.oneUsdc)
  const limits = await wallet.key.api.get('/api/limits')
  expect(limits.json).toMatchObject({ reserved_usd: '0.00', daily_used_usd: '6.00' })
})

it('ends the delegation of an idle account, which then sends several at a time', async () => {
  const chain = chainOf(stack, OPTIMISM)
  const { address, key } = idle
  const code = async () => delegateOf(await chain.client.getCode({ address }))
  await expect.poll(code, WAIT).toBeNull()
  // The first delegation, and its end; the account itself has sent nothing.
  expect(await chain.client.getTransactionCount({ address })).toBe(2)
  const to = getAddress('0x000000000000000000000000000000000000dEaD')
  const send = () => key.api.post('/api/tx/send', { chain_id: OPTIMISM, to, value: '1' })
  // The chain shows it before the service has looked; one that started meanwhile looks again later.
  let rounds = 0
  const sendThree = async () => {
    rounds++
    const sent = await Promise.all([send(), send(), send()])
    for (const { json } of sent) {
      expect(await finalOf(key.api, json.tx_id)).toMatchObject({ status: 'confirmed' })
    }
    return sent.map(({ status, json }) => [status, json.status])
  }
  const broadcast = [200, 'broadcast']
  await expect.poll(sendThree, LOOK_WAIT).toEqual([broadcast, broadcast, broadcast])
  await swapped(idle, chain, chain.oneUsdc)
  expect(await code()).toBe(chain.delegate)
  expect(await chain.client.getTransactionCount({ address })).toBe(2 + 3 * rounds + 1)
})
