import { setTimeout as delay } from 'node:timers/promises'
import { parseGwei } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openChainWriter } from '../../scripts/contracts/chain-writer.js'
import { deployerAccount } from '../../scripts/dev/chains/deployer.js'
import { devHome } from '../../scripts/dev/home/layout.js'
import { readChainsFile } from '../../src/config/chains.js'
import agentRouter from '../../src/contracts/generated/agent-router.json' with { type: 'json' }
import { readGasWalletsFile } from '../../src/defi/gas-wallets-file.js'
import type { Address } from '../../src/domain/ids.js'
import { newAddress } from '../e2e/chain.js'
import { allFinal, finalOf, type Stack, startStack, transactionsOf } from '../e2e/stack.js'
import { type Chain, chainOf, give, newWallet, type SponsoredWallet } from './sponsored-wallet.js'

const BASE = 8453
const OPTIMISM = 10
const WALLETS = 100
const AT_ONCE = 10
const DEADLINE_LEAP_SECONDS = 300
/** A block may come before both are sent. */
const ARRANGEMENTS_MAX = 10

let stack: Stack

beforeAll(async () => {
  stack = await startStack()
})

afterAll(async () => {
  await stack?.service.stop()
})

async function wallets(count: number): Promise<SponsoredWallet[]> {
  const made: SponsoredWallet[] = []
  while (made.length < count) {
    const some = Array.from({ length: Math.min(AT_ONCE, count - made.length) }, () =>
      newWallet(stack),
    )
    made.push(...(await Promise.all(some)))
  }
  return made
}

function swap({ key }: SponsoredWallet, chain: Chain, amount: bigint) {
  return key.api.post('/api/swap/execute', {
    chain_id: chain.id,
    token_in: chain.usdc,
    token_out: chain.wrapped,
    amount_in: amount.toString(),
  })
}

it(`swaps for ${WALLETS} wallets at once while each of them sends on its own`, async () => {
  const chain = chainOf(stack, BASE)
  const all = await wallets(WALLETS)
  for (const { address } of all) {
    await give(stack, BASE, address, '10', 'USDC')
    await give(stack, BASE, address, '0.1', 'native')
  }
  const startedMs = performance.now()
  await Promise.all(
    all.map(async (wallet) => {
      const { key } = wallet
      const send = { chain_id: BASE, to: newAddress(), value: '1' }
      const answers = await Promise.all([
        key.api.post('/api/tx/send', send),
        swap(wallet, chain, chain.oneUsdc),
        key.api.post('/api/tx/send', send),
      ])
      for (const { json, text } of answers) {
        expect(json.tx_id, text).toBeDefined()
        expect(await finalOf(key.api, json.tx_id), text).toMatchObject({ status: 'confirmed' })
      }
    }),
  )
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1)
  console.log(`${WALLETS} swaps and ${2 * WALLETS} sends final after ${seconds} s`)
  for (const { address } of all) {
    expect(await chain.balance(chain.usdc, address)).toBe(9n * chain.oneUsdc)
    expect(await chain.client.getTransactionCount({ address })).toBe(3)
  }
}, 360_000)

it('picks up what a kill interrupted: nothing is lost, nothing happens twice', async () => {
  const chain = chainOf(stack, BASE)
  const all = await wallets(8)
  for (const { address } of all) await give(stack, BASE, address, '10', 'USDC')
  const asked = all.flatMap((wallet) =>
    [1, 2, 3].map(() => swap(wallet, chain, chain.oneUsdc).catch(() => null)),
  )
  await delay(600)
  await stack.service.killAndAwaitRestart('service')
  const answers = await Promise.all(asked)
  for (const wallet of all) {
    const ended = await allFinal(stack.owner, wallet.key)
    const confirmed = ended.filter(({ status }) => status === 'confirmed')
    const left = await chain.balance(chain.usdc, wallet.address)
    expect(left).toBe((10n - BigInt(confirmed.length)) * chain.oneUsdc)
    const limits = await wallet.key.api.get('/api/limits')
    expect(limits.json.daily_used_usd).toBe(`${confirmed.length}.00`)
  }
  const told = answers.filter((answer) => answer !== null && answer.status < 300)
  for (const answer of told) {
    const known = await Promise.all(
      all.map(({ key }) => key.api.get(`/api/tx/${answer?.json.tx_id}`)),
    )
    expect(known.filter(({ status }) => status === 200)).toHaveLength(1)
  }
})

it('answers a swap by its quote as before when it comes again after a kill', async () => {
  const chain = chainOf(stack, BASE)
  const wallet = await newWallet(stack)
  await give(stack, BASE, wallet.address, '10', 'USDC')
  const { api } = wallet.key
  const quote = await api.post('/api/swap/quote', {
    ...{ chain_id: BASE, token_in: chain.usdc, token_out: chain.wrapped },
    amount_in: chain.oneUsdc.toString(),
  })
  const { quote_id } = quote.json
  const swapOnce = (body: object) =>
    api.post('/api/swap/execute', body, { 'idempotency-key': 'rebalance-1' })
  const first = await swapOnce({ quote_id })
  expect(first.status, first.text).toBeOneOf([200, 202])
  await finalOf(api, first.json.tx_id)
  await stack.service.killAndAwaitRestart('service')
  const again = await swapOnce({ quote_id })
  expect([again.status, again.json.tx_id], again.text).toEqual([first.status, first.json.tx_id])
  expect((await swapOnce({ quote_id: 'quote_other' })).code).toBe('IDEMPOTENCY_KEY_REUSED')
  // The quote stands for its swap whatever Idempotency-Key comes with it, or none.
  const bare = await api.post('/api/swap/execute', { quote_id })
  expect([bare.status, bare.json.tx_id], bare.text).toEqual([first.status, first.json.tx_id])
  const unknown = await api.post('/api/swap/execute', { quote_id: 'quote_other' })
  expect(unknown.code).toBe('NOT_FOUND')
  expect(await chain.balance(chain.usdc, wallet.address)).toBe(9n * chain.oneUsdc)
})

it('answers executions of one quote that race with the record of one swap', async () => {
  const chain = chainOf(stack, BASE)
  const { key, address } = await newWallet(stack)
  await give(stack, BASE, address, '10', 'USDC')
  const { json } = await key.api.post('/api/swap/quote', {
    ...{ chain_id: BASE, token_in: chain.usdc, token_out: chain.wrapped },
    amount_in: chain.oneUsdc.toString(),
  })
  const { quote_id } = json
  const raced = await Promise.all(
    ['one', 'one', 'two', null, null].map((name) =>
      key.api.post(
        '/api/swap/execute',
        { quote_id },
        name === null ? {} : { 'idempotency-key': name },
      ),
    ),
  )
  for (const { status, text } of raced) expect(status, text).toBeOneOf([200, 202])
  const [first] = raced
  expect(new Set(raced.map((answer) => answer.json.tx_id)).size).toBe(1)
  await finalOf(key.api, first?.json.tx_id)
  expect(await chain.balance(chain.usdc, address)).toBe(9n * chain.oneUsdc)
})

it('keeps the spend of a reverted intent that nobody could cancel until its deadline', async () => {
  const chain = chainOf(stack, OPTIMISM)
  const failed = await revertedForRelayers(chain)

  const held = await failed.key.api.get('/api/limits')
  expect(held.json).toMatchObject({ reserved_usd: '10.00', daily_used_usd: '11.00' })
  await chain.client.request({
    method: 'evm_increaseTime',
    params: [DEADLINE_LEAP_SECONDS],
  } as never)
  await expect
    .poll(async () => (await failed.key.api.get('/api/limits')).json, { timeout: 60_000 })
    .toMatchObject({ reserved_usd: '0.00', daily_used_usd: '1.00' })
  const [one, other] = await transactionsOf(stack.owner, failed.key.keyId)
  expect([one?.status, other?.status].sort()).toEqual(['confirmed', 'failed'])
  expect([one?.spend_usd, other?.spend_usd].sort()).toEqual(['0.00', '1.00'])
})

/** A swap of 10 USDC that was mined after the Router's owner had removed every gas wallet. */
async function revertedForRelayers(chain: Chain): Promise<SponsoredWallet> {
  const home = devHome({ COUNTERSIGN_HOME: stack.service.home })
  const config = readChainsFile(home.chainsFile).chains.find(({ id }) => id === chain.id)
  const owner = openChainWriter(config?.rpc_urls[0] ?? '', chain.id, deployerAccount(home))
  const relayers = readGasWalletsFile(stack.service.home)[chain.id] ?? []
  const router = chain.router as Address
  const automine = (on: boolean) =>
    owner.client.request({ method: 'evm_setAutomine', params: [on] } as never)
  for (let tries = 0; tries < ARRANGEMENTS_MAX; tries++) {
    const wallet = await newWallet(stack)
    await give(stack, chain.id, wallet.address, '20', 'USDC')
    const first = await swap(wallet, chain, chain.oneUsdc)
    expect(await finalOf(wallet.key.api, first.json.tx_id)).toMatchObject({ status: 'confirmed' })
    await automine(false)
    const [sent] = await Promise.all([
      swap(wallet, chain, 10n * chain.oneUsdc),
      owner.client.writeContract({
        ...{ address: router, abi: agentRouter.abi, functionName: 'removeRelayers' },
        ...{ args: [relayers], gas: 300_000n },
        ...{ maxFeePerGas: parseGwei('90'), maxPriorityFeePerGas: parseGwei('90') },
      }),
    ])
    await automine(true)
    await owner.client.mine({ blocks: 1 })
    const { tx_id } = sent.json
    const end = tx_id === undefined ? null : await finalOf(wallet.key.api, tx_id)
    if (end?.status === 'failed') return wallet
    await owner.write(router, agentRouter.abi, 'addRelayers', [relayers])
  }
  throw new Error('no swap was mined after its gas wallet had been removed')
}
