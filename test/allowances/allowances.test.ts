import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { decodeFunctionResult, encodeFunctionData } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readChainsFile } from '../../src/config/chains.js'
import { erc20Abi } from '../../src/contracts/abis/erc20.js'
import { erc4626Abi } from '../../src/contracts/abis/erc4626.js'
import type { Address, Hex } from '../../src/domain/ids.js'
import { parseUsd } from '../../src/domain/money.js'
import { createUser } from '../../src/identity-provider/login/create-user.js'
import { type ChainView, chainView, newAddress } from '../e2e/chain.js'
import { finalOf, type IssuedKey, issueKey, type Stack, startStack } from '../e2e/stack.js'
import type { HttpClient, Reply, ReplyBody } from '../support/http-client.js'

const BASE = 8453
const OPTIMISM = 10
const FIVE_USDC = 5_000_000n
const TWO_USDC = 2_000_000n
const UNLIMITED = 2n ** 256n - 1n
const TEN_ETHER = '0x8ac7230489e80000'

let stack: Stack
let key: IssuedKey
let base: ChainView
let optimism: ChainView
let wrapped: Address
const spender = newAddress()
const other = newAddress()

beforeAll(async () => {
  stack = await startStack()
  const dev = stack.service.dev()
  base = chainView(dev, BASE)
  optimism = chainView(dev, OPTIMISM)
  wrapped = dev.tokens[BASE]?.WRAPPED as Address
  key = await issueKey(stack)
})

afterAll(() => stack?.service.stop())

function approve(to: Address, amount: bigint): Hex {
  return encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [to, amount] })
}

async function sendAndConfirm(
  chain: ChainView,
  to: Address,
  data: Hex,
  { api } = key,
): Promise<string> {
  const sent = await api.post('/api/tx/send', { chain_id: chain.chainId, to, data })
  expect(sent.status, sent.text).toBe(200)
  expect(await finalOf(api, sent.json.tx_id)).toMatchObject({ status: 'confirmed' })
  return String(sent.json.tx_id)
}

async function listed(chain: ChainView): Promise<readonly ReplyBody[]> {
  const reply = await key.api.get(`/api/wallet/allowances?chain_id=${chain.chainId}`)
  expect(reply.status, reply.text).toBe(200)
  expect(reply.json).toMatchObject({ chain_id: chain.chainId, complete: true })
  return reply.json.allowances as readonly ReplyBody[]
}

async function allowanceOnChain(chain: ChainView, token: Address, to: Address): Promise<bigint> {
  const owner = stack.service.dev().address as Address
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'allowance', args: [owner, to] })
  const result = (await chain.call('eth_call', [{ to: token, data }, 'latest'])) as Hex
  return decodeFunctionResult({ abi: erc20Abi, functionName: 'allowance', data: result })
}

/** As `spender`, whose key nobody has: the node signs for it. */
async function pull(chain: ChainView, token: Address, amount: bigint): Promise<void> {
  const from = stack.service.dev().address as Address
  const data = encodeFunctionData({
    abi: erc20Abi,
    functionName: 'transferFrom',
    args: [from, spender, amount],
  })
  await chain.call('anvil_setBalance', [spender, TEN_ETHER])
  await chain.call('anvil_impersonateAccount', [spender])
  const hash = String(await chain.call('eth_sendTransaction', [{ from: spender, to: token, data }]))
  await chain.call('anvil_stopImpersonatingAccount', [spender])
  let receipt = await chain.receipt(hash)
  while (receipt === null) {
    await delay(100)
    receipt = await chain.receipt(hash)
  }
  expect(receipt.succeeded).toBe(true)
}

function revokeAll(
  console: HttpClient,
  secret: string | null,
  body: Record<string, unknown> = {},
): Promise<Reply> {
  const path = `/wallets/${stack.service.dev().sub_wallet_id}/revoke-allowances`
  return console.post(path, body, secret === null ? {} : { 'x-api-key': secret })
}

describe('approvals of a sub-wallet', () => {
  test('are listed while they are in force, worth what they could take, as the chain has them now', async () => {
    expect(await listed(base)).toEqual([])
    const call = { chain_id: BASE, to: base.usdc, data: approve(spender, FIVE_USDC) }
    const forecast = await key.api.post('/api/tx/simulate', call)
    const [predicted] = forecast.json.approvals as readonly ReplyBody[]
    const txId = await sendAndConfirm(base, base.usdc, call.data)
    const [entry, ...more] = await listed(base)
    expect(more).toEqual([])
    expect(entry).toMatchObject({
      kind: 'erc20',
      amount: FIVE_USDC.toString(),
      usd_value: predicted?.usd_value,
      token_id: null,
      tx_id: txId,
    })
    expect(String(entry?.token).toLowerCase()).toBe(base.usdc.toLowerCase())
    expect(String(entry?.spender).toLowerCase()).toBe(spender)

    await pull(base, base.usdc, TWO_USDC)
    const [rest] = await listed(base)
    expect(rest).toMatchObject({ amount: (FIVE_USDC - TWO_USDC).toString(), tx_id: txId })
    const [worthBefore, worthAfter] = [entry, rest].map((it) => parseUsd(String(it?.usd_value)))
    expect(Number(worthAfter) / Number(worthBefore)).toBeCloseTo(0.6, 4)

    await pull(base, base.usdc, FIVE_USDC - TWO_USDC)
    expect(await listed(base)).toEqual([])
  })

  test('made again take the place of the earlier ones; an unlimited one is worth the balance', async () => {
    await sendAndConfirm(base, wrapped, approve(other, 7n))
    const free = await issueKey(stack, { dailyUsd: 'unlimited', monthlyUsd: 'unlimited' })
    const txId = await sendAndConfirm(base, wrapped, approve(other, UNLIMITED), free)
    const entries = await listed(base)
    expect(entries).toMatchObject([{ amount: UNLIMITED.toString(), tx_id: txId }])
    const balances = await key.api.get(`/api/wallet/token-balances?chain_id=${BASE}`)
    const tokens = balances.json.tokens as readonly ReplyBody[]
    const held = tokens.find(({ token }) => String(token).toLowerCase() === wrapped.toLowerCase())
    expect(entries[0]?.usd_value).toBe(held?.usd_value)
  })

  test('outlive a crash of the service', async () => {
    const before = await listed(base)
    await stack.service.killAndAwaitRestart('service')
    expect(await listed(base)).toEqual(before)
    expect(before).toHaveLength(1)
  })

  test('count once: what they paid for pays for the pull, for other keys’ calls it does not', async () => {
    const { chains } = readChainsFile(join(stack.service.home, 'chains.json'))
    const vault = chains.find(({ id }) => id === BASE)?.markets[0]?.vault as Address
    const data = encodeFunctionData({ abi: erc4626Abi, functionName: 'totalAssets' })
    const spendOf = async (to: Address, calldata: Hex, { api } = key) => {
      const call = { chain_id: BASE, to, data: calldata }
      const predicted = await api.post('/api/tx/simulate', call)
      const sent = await api.post('/api/tx/send', call)
      expect(sent.status, sent.text).toBe(200)
      await finalOf(api, sent.json.tx_id)
      // Fees move between the two.
      expect(Number(predicted.json.spend_usd)).toBeCloseTo(Number(sent.json.spend_usd), 0)
      return Number(sent.json.spend_usd)
    }
    const aboutFive = (usd: number) => usd > 4.9 && usd < 6
    expect(await spendOf(vault, data)).toBeLessThan(1)
    expect(await spendOf(base.usdc, approve(vault, FIVE_USDC))).toSatisfy(aboutFive)
    expect(await spendOf(vault, data)).toBeLessThan(1)
    const another = await issueKey(stack)
    expect(await spendOf(vault, data, another)).toSatisfy(aboutFive)
    const deposit = encodeFunctionData({
      abi: erc4626Abi,
      functionName: 'deposit',
      args: [FIVE_USDC, stack.service.dev().address as Address],
    })
    expect(await spendOf(vault, deposit)).toBeLessThan(1)
    expect(await spendOf(vault, data, another)).toBeLessThan(1)

    const owner = stack.service.dev().address as Address
    const balance = encodeFunctionData({
      abi: erc20Abi,
      functionName: 'balanceOf',
      args: [owner],
    })
    const shares = BigInt(
      String(await base.call('eth_call', [{ to: vault, data: balance }, 'latest'])),
    )
    const half = shares / 2n
    expect(await spendOf(vault, approve(spender, half))).toSatisfy((usd: number) => usd > 2.4)
    await sendAndConfirm(base, vault, approve(spender, 0n))
    const give = encodeFunctionData({
      abi: erc20Abi,
      functionName: 'transfer',
      args: [spender, half],
    })
    expect(await spendOf(vault, give)).toSatisfy((usd: number) => usd > 2.4 && usd < 4)
    await sendAndConfirm(base, base.usdc, approve(vault, FIVE_USDC))
  })
})

describe('a request to end all approvals', () => {
  test('is refused without a trade key of that very wallet', async () => {
    const { owner, service } = stack
    expect(await revokeAll(owner, null)).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' })
    const unknown = `sk_test_${'a'.repeat(32)}`
    expect(await revokeAll(owner, unknown)).toMatchObject({ status: 401, code: 'INVALID_KEY' })
    const reader = await issueKey(stack, { permission: 'read' })
    expect(await revokeAll(owner, reader.secret)).toMatchObject({
      status: 403,
      code: 'PERMISSION_DENIED',
    })
    const wallet = await owner.post('/wallets', { name: 'another' })
    const foreign = await issueKey(stack, { subWalletId: String(wallet.json.sub_wallet_id) })
    expect(await revokeAll(owner, foreign.secret)).toMatchObject({
      status: 403,
      code: 'PERMISSION_DENIED',
    })
    expect(await revokeAll(service.console('no.such.token'), key.secret)).toMatchObject({
      status: 401,
      code: 'INVALID_TOKEN',
    })
    expect(await revokeAll(owner, key.secret, { chain_id: 5 })).toMatchObject({
      status: 400,
      code: 'CHAIN_NOT_SUPPORTED',
    })
    expect(await listed(base)).toHaveLength(2)
  })

  test("finds nothing in another user's place", async () => {
    const { service } = stack
    const user = { email: 'stranger@example.test', password: randomBytes(12).toString('hex') }
    await createUser(join(service.home, 'identity-provider'), user.email, user.password)
    const stranger = service.console(await service.token(user))
    for (const secret of [null, key.secret]) {
      expect(await revokeAll(stranger, secret)).toMatchObject({ status: 404, code: 'NOT_FOUND' })
    }
    expect(await listed(base)).toHaveLength(2)
    const wallet = `/wallets/${service.dev().sub_wallet_id}`
    for (const path of [`balances?chain_id=${BASE}`, 'positions', `allowances?chain_id=${BASE}`]) {
      expect((await stranger.get(`${wallet}/${path}`)).status, path).toBe(404)
    }
  })

  test("are shown to the wallet's owner, with what else it has, on any chain", async () => {
    const { owner, service } = stack
    const wallet = `/wallets/${service.dev().sub_wallet_id}`
    const { json: shown } = await owner.get(`${wallet}/allowances?chain_id=${BASE}`)
    expect(shown.allowances).toEqual(await listed(base))
    const { json: has } = await owner.get(`${wallet}/balances?chain_id=${BASE}`)
    expect(has).toMatchObject({ chain_id: BASE, native: { decimals: 18, symbol: 'ETH' } })
    expect(has.tokens).toContainEqual(expect.objectContaining({ symbol: 'USDC' }))
    const { json: held } = await owner.get(`${wallet}/positions?chain_id=${BASE}`)
    expect(held).toMatchObject({ positions: [{ market_id: 'dev-usdc-8453', chain_id: BASE }] })
    expect((await owner.get(`${wallet}/balances?chain_id=5`)).code).toBe('CHAIN_NOT_SUPPORTED')
  })

  test('skips, with the reason, what the key may not send', async () => {
    const narrow = await issueKey(stack, { chains: [OPTIMISM] })
    const reply = await revokeAll(stack.owner, narrow.secret)
    expect(reply.status, reply.text).toBe(200)
    expect(reply.json.transactions).toEqual([])
    const skipped = reply.json.skipped as readonly ReplyBody[]
    expect(skipped).toHaveLength(2)
    for (const it of skipped)
      expect(it).toMatchObject({ chain_id: BASE, code: 'CHAIN_NOT_ALLOWED' })
  })

  test('skips what screening refuses and ends the rest', async () => {
    const scam = newAddress()
    await sendAndConfirm(base, base.usdc, approve(scam, FIVE_USDC))
    await stack.owner.post('/address-rules', { address: scam, action: 'block' })
    const none = await revokeAll(stack.owner, key.secret, { chain_id: OPTIMISM })
    expect(none.json).toEqual({ transactions: [], skipped: [] })
    const reply = await revokeAll(stack.owner, key.secret, { chain_id: BASE })
    expect(reply.json.transactions).toHaveLength(2)
    const [skipped, ...more] = reply.json.skipped as readonly ReplyBody[]
    expect(more).toEqual([])
    expect(skipped).toMatchObject({ chain_id: BASE, code: 'ADDRESS_BLOCKED' })
    expect(String(skipped?.spender).toLowerCase()).toBe(scam)
    for (const { tx_id } of reply.json.transactions ?? []) await finalOf(key.api, tx_id)
    await stack.owner.call('DELETE', '/address-rules', { body: { address: scam } })
    expect(await listed(base)).toHaveLength(1)
  })

  test('ends them on every chain, also one still on its way, and once when repeated', async () => {
    await sendAndConfirm(base, wrapped, approve(other, 7n))
    const onItsWay = await key.api.post('/api/tx/send', {
      chain_id: OPTIMISM,
      to: optimism.usdc,
      data: approve(spender, FIVE_USDC),
    })
    expect(onItsWay.status, onItsWay.text).toBe(200)
    const [first, second] = [
      await revokeAll(stack.owner, key.secret),
      await revokeAll(stack.owner, key.secret),
    ]
    expect(first.status, first.text).toBe(200)
    expect(first.json.skipped).toEqual([])
    const sent = first.json.transactions ?? []
    expect(sent.map(({ chain_id }) => chain_id).sort()).toEqual([OPTIMISM, BASE, BASE])
    const known = new Set(sent.map(({ tx_id }) => tx_id))
    for (const { tx_id } of second.json.transactions ?? []) expect(known).toContain(tx_id)
    for (const { tx_id } of sent) {
      expect(await finalOf(key.api, tx_id)).toMatchObject({ status: 'confirmed', kind: 'send' })
    }
    expect(await allowanceOnChain(base, wrapped, other)).toBe(0n)
    expect(await allowanceOnChain(optimism, optimism.usdc, spender)).toBe(0n)
    expect(await listed(base)).toEqual([])
    expect(await listed(optimism)).toEqual([])
    const nothing = await revokeAll(stack.owner, key.secret)
    expect(nothing.json).toEqual({ transactions: [], skipped: [] })
  })
})
