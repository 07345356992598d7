import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { parseUnits } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Io } from '../../src/cli/io.js'
import { runProgram } from '../../src/cli/program.js'
import { erc4626Abi } from '../../src/contracts/abis/erc4626.js'
import { delegateOf } from '../../src/contracts/delegation.js'
import { auditHome } from '../../src/custody-tools/maintenance/audit-home.js'
import { NATIVE_TOKEN } from '../../src/domain/chains.js'
import { newAddress } from '../e2e/chain.js'
import { finalOf, type Stack, startStack } from '../e2e/stack.js'
import { chainOf, give, newWallet, type SponsoredWallet } from './sponsored-wallet.js'

const ROUTED = [1, 10, 56, 137, 8453] as const
const BARE = 42161
const BASE = 8453
const FEE_BPS = 30n
const feeOf = (amount: bigint) => (amount * FEE_BPS) / 10_000n

let stack: Stack

beforeAll(async () => {
  stack = await startStack()
})

afterAll(async () => {
  await stack?.service.stop()
})

describe.each(ROUTED)('on chain %i, a wallet that holds nothing but USDC', (chainId) => {
  let wallet: SponsoredWallet

  beforeAll(async () => {
    wallet = await newWallet(stack)
    await give(stack, chainId, wallet.address, '1000', 'USDC')
  })

  it('swaps exactly the amount, pays exactly the fee, and no gas', async () => {
    const chain = chainOf(stack, chainId)
    const { address, key } = wallet
    const amount = 100n * chain.oneUsdc
    const terms = {
      chain_id: chainId,
      token_in: chain.usdc,
      token_out: chain.wrapped,
      amount_in: amount.toString(),
    }
    const quote = await key.api.post('/api/swap/quote', terms)
    expect(quote.json).toMatchObject({ fee_amount: feeOf(amount).toString(), fee_token: 'USDC' })
    const feesBefore = await chain.balance(chain.usdc, chain.feeRecipient)

    const sent = await key.api.post('/api/swap/execute', { quote_id: quote.json.quote_id })
    expect(sent.status, sent.text).toBeOneOf([200, 202])
    const done = await finalOf(key.api, sent.json.tx_id)

    expect(done).toMatchObject({ status: 'confirmed', kind: 'swap', spend_usd: '100.00' })
    expect(done).toMatchObject({ from: address, to: chain.router, fee_native_wei: '0' })
    expect(await chain.balance(chain.usdc, address)).toBe(900n * chain.oneUsdc)
    expect((await chain.balance(chain.usdc, chain.feeRecipient)) - feesBefore).toBe(feeOf(amount))
    const got = await chain.balance(chain.wrapped, address)
    expect(done).toMatchObject({
      ...{ fee_token: chain.usdc, fee_amount: feeOf(amount).toString() },
      ...{ token_in: chain.usdc, amount_in: amount.toString() },
      ...{ token_out: chain.wrapped, amount_out: got.toString() },
    })
    const least = parseUnits(String(quote.json.amount_out_min), 18)
    expect(await chain.balance(chain.wrapped, address)).toBeGreaterThanOrEqual(least)
    expect(await chain.client.getBalance({ address })).toBe(0n)
    const delegate = delegateOf(await chain.client.getCode({ address }))
    expect(delegate).toBe(chain.delegate)
  })

  it('swaps back what it got, and is refused a gas swap anywhere but on Base', async () => {
    const chain = chainOf(stack, chainId)
    const { address, key } = wallet
    const [wrapped, usdc] = [
      await chain.balance(chain.wrapped, address),
      await chain.balance(chain.usdc, address),
    ]
    const sent = await key.api.post('/api/swap/execute', {
      chain_id: chainId,
      token_in: chain.wrapped,
      token_out: chain.usdc,
      amount_in: wrapped.toString(),
    })
    expect(await finalOf(key.api, sent.json.tx_id), sent.text).toMatchObject({
      status: 'confirmed',
    })
    expect(await chain.balance(chain.wrapped, address)).toBe(0n)
    expect(await chain.balance(chain.usdc, address)).toBeGreaterThan(usdc)
    expect(await chain.client.getBalance({ address })).toBe(0n)
    if (chainId === BASE) return
    const gas = await key.api.post('/api/gas/swap', { chain_id: chainId, amount_in: '1000000' })
    expect([gas.status, gas.code]).toEqual([400, 'GAS_SWAP_NOT_SUPPORTED'])
  })

  it('deposits into a vault and takes everything out again, to the last unit', async () => {
    const chain = chainOf(stack, chainId)
    const { address, key } = wallet
    const amount = 500n * chain.oneUsdc + 7n
    const usdcBefore = await chain.balance(chain.usdc, address)

    const quote = await key.api.post('/api/defi/deposit/quote', {
      chain_id: chainId,
      market_id: chain.marketId,
      amount: amount.toString(),
    })
    expect(quote.json, quote.text).toMatchObject({
      ...{ amount_in: amount.toString(), fee_amount: feeOf(amount).toString() },
      ...{ fee_token: 'USDC', gas_sponsored: true, market_id: chain.marketId, fee_bps: 30 },
    })
    const deposit = await key.api.post('/api/defi/deposit', {
      chain_id: chainId,
      market_id: chain.marketId,
      amount: amount.toString(),
    })
    expect(await finalOf(key.api, deposit.json.tx_id), deposit.text).toMatchObject({
      status: 'confirmed',
    })
    expect(await chain.balance(chain.usdc, address)).toBe(usdcBefore - amount)
    const shares = await chain.balance(chain.vault, address)
    const positions = await key.api.get(`/api/defi/positions?chain_id=${chainId}`)
    expect(positions.json.positions).toMatchObject([{ shares: shares.toString() }])
    const worthOf = ({ json }: typeof positions) => {
      const [position] = json.positions as unknown as { asset_amount: string }[]
      return BigInt(position?.asset_amount ?? 0)
    }
    // The vault earns with every block.
    await expect
      .poll(async () => worthOf(await key.api.get(`/api/defi/positions?chain_id=${chainId}`)), {
        timeout: 60_000,
        interval: 500,
      })
      .toBeGreaterThan(worthOf(positions))

    const all = { chain_id: chainId, market_id: chain.marketId, shares: 'max' }
    const offered = await key.api.post('/api/defi/withdraw/quote', all)
    expect(offered.json, offered.text).toMatchObject({
      ...{ amount_in: shares.toString(), fee_amount: feeOf(shares).toString() },
      ...{ gas_sponsored: true, market_id: chain.marketId, fee_bps: 30 },
    })
    const withdrawal = await key.api.post('/api/defi/withdraw', all)
    const done = await finalOf(key.api, withdrawal.json.tx_id)
    expect(done).toMatchObject({
      ...{ fee_token: chain.vault, fee_amount: feeOf(shares).toString() },
      ...{ token_in: chain.vault, amount_in: shares.toString(), token_out: chain.usdc },
    })
    const nothing = await key.api.post('/api/defi/withdraw/quote', all)
    expect(nothing.code).toBe('INSUFFICIENT_FUNDS')
    expect(nothing.text).toContain('no shares of that vault')
    const again = await key.api.post('/api/defi/withdraw', all)
    expect(again.text).toContain('no shares of that vault')
    expect(done, withdrawal.text).toMatchObject({ status: 'confirmed', kind: 'defi_withdraw' })
    expect(await chain.balance(chain.vault, address)).toBe(0n)
    const receipt = await chain.client.getTransactionReceipt({
      hash: done.tx_hash as `0x${string}`,
    })
    const worth = await chain.client.readContract({
      address: chain.vault,
      abi: erc4626Abi,
      functionName: 'previewRedeem',
      args: [shares - feeOf(shares)],
      blockNumber: receipt.blockNumber,
    })
    const gained = (await chain.balance(chain.usdc, address)) - (usdcBefore - amount)
    expect(gained - worth).toBeOneOf([-1n, 0n, 1n])
    expect(await chain.client.getBalance({ address })).toBe(0n)
  })
})

describe('native currency', () => {
  it('is bought with USDC on Base, and then sold, wrapped and unwrapped', async () => {
    const wallet = await newWallet(stack)
    const chain = chainOf(stack, BASE)
    const { api } = wallet.key
    await give(stack, BASE, wallet.address, '100', 'USDC')
    const run = async (path: string, body: object) => {
      const sent = await api.post(path, { chain_id: BASE, ...body })
      expect(await finalOf(api, sent.json.tx_id), sent.text).toMatchObject({ status: 'confirmed' })
    }
    const native = () => chain.client.getBalance({ address: wallet.address })
    const half = { chain_id: BASE, amount_in: (50n * chain.oneUsdc).toString() }
    const quote = await api.post('/api/gas/swap/quote', half)
    expect(quote.json, quote.text).toMatchObject({
      ...{ amount_in: half.amount_in, fee_amount: feeOf(50n * chain.oneUsdc).toString() },
      ...{ fee_token: 'USDC', gas_sponsored: true, fee_bps: 30 },
    })
    expect(Number(quote.json.amount_out)).toBeGreaterThan(0)
    await run('/api/gas/swap', half)
    const bought = await native()
    expect(bought).toBeGreaterThan(0n)
    const amount = 10n ** 15n
    const amount_in = amount.toString()
    await run('/api/swap/execute', { token_in: NATIVE_TOKEN, token_out: chain.usdc, amount_in })
    await run('/api/swap/execute', { token_in: NATIVE_TOKEN, token_out: chain.wrapped, amount_in })
    expect(await native()).toBe(bought - 2n * amount)
    const wrapped = amount - feeOf(amount)
    expect(await chain.balance(chain.wrapped, wallet.address)).toBe(wrapped)
    await run('/api/swap/execute', {
      token_in: chain.wrapped,
      token_out: NATIVE_TOKEN,
      amount_in: wrapped.toString(),
    })
    expect(await native()).toBe(bought - 2n * amount + wrapped - feeOf(wrapped))
  })
})

describe('what is refused', () => {
  it('names the missing Router before it looks at caps or markets', async () => {
    const { key } = await newWallet(stack, { dailyUsd: '0.01', monthlyUsd: '0.01' })
    const chain = chainOf(stack, BARE)
    const swap = { chain_id: BARE, token_in: chain.usdc, token_out: chain.wrapped }
    const calls: readonly [string, object][] = [
      ['/api/swap/execute', { ...swap, amount_in: '1000000000' }],
      ['/api/defi/deposit', { chain_id: BARE, market_id: 'nope', amount: '1' }],
      ['/api/defi/withdraw', { chain_id: BARE, market_id: 'nope', shares: 'max' }],
      ['/api/gas/swap', { chain_id: BARE, amount_in: '1' }],
    ]
    for (const [path, body] of calls) {
      const answer = await key.api.post(path, body)
      expect([answer.status, answer.code], path).toEqual([400, 'ROUTER_NOT_AVAILABLE'])
    }
    const optimism = await key.api.post('/api/gas/swap', { chain_id: 10, amount_in: '1' })
    expect(optimism.code).toBe('GAS_SWAP_NOT_SUPPORTED')
    const quote = await key.api.post('/api/gas/swap/quote', { chain_id: 10, amount_in: '1' })
    expect(quote.code).toBe('GAS_SWAP_NOT_SUPPORTED')
    const stranger = { chain_id: 10, market_id: 'nope', amount: '1' }
    expect((await key.api.post('/api/defi/deposit/quote', stranger)).code).toBe('NOT_FOUND')
  })

  it('keeps the order: cap, then funds, and reserves nothing of what it refuses', async () => {
    const { key } = await newWallet(stack, { dailyUsd: '10', monthlyUsd: '10' })
    const chain = chainOf(stack, BASE)
    const swap = { chain_id: BASE, token_in: chain.usdc, token_out: chain.wrapped }
    const over = { ...swap, amount_in: (11n * chain.oneUsdc).toString() }
    const poor = { ...swap, amount_in: (9n * chain.oneUsdc).toString() }
    expect((await key.api.post('/api/swap/execute', over)).code).toBe('LIMIT_EXCEEDED')
    const refused = await key.api.post('/api/swap/execute', poor)
    expect(refused.code).toBe('INSUFFICIENT_FUNDS')
    expect(refused.text).toContain('USDC')
    const wrapped = { ...swap, token_in: chain.wrapped, token_out: chain.usdc, amount_in: '9' }
    const unwrapped = await key.api.post('/api/swap/execute', wrapped)
    expect(unwrapped.code).toBe('INSUFFICIENT_FUNDS')
    expect(unwrapped.text).toContain('WETH, the wrapped form of ETH')
    const lack = { token: chain.usdc, have: '0', need: poor.amount_in }
    expect(refused.json).toMatchObject({ error: { details: lack } })
    const limits = await key.api.get('/api/limits')
    expect(limits.json).toMatchObject({ daily_used_usd: '0.00', reserved_usd: '0.00' })
  })

  it('screens venue and tokens: the owner’s own rule stops a swap, and frees its spend', async () => {
    const { key, address } = await newWallet(stack)
    const chain = chainOf(stack, 10)
    await give(stack, 10, address, '10', 'USDC')
    const rule = await stack.owner.post('/address-rules', {
      address: chain.wrapped,
      action: 'block',
    })
    expect(rule.status, rule.text).toBeLessThan(300)
    const swap = { chain_id: 10, token_in: chain.usdc, token_out: chain.wrapped }
    const blocked = await key.api.post('/api/swap/execute', { ...swap, amount_in: '1000000' })
    expect(blocked.code, blocked.text).toBe('ADDRESS_BLOCKED')
    expect(blocked.json.error?.details).toMatchObject({ address: chain.wrapped })
    const limits = await key.api.get('/api/limits')
    expect(limits.json).toMatchObject({ daily_used_usd: '0.00', reserved_usd: '0.00' })
    const body = { address: chain.wrapped }
    expect((await stack.owner.call('DELETE', '/address-rules', { body })).status).toBe(200)
  })

  it('answers a quote that nobody made, or another wallet made, as not found', async () => {
    const [one, other] = [await newWallet(stack), await newWallet(stack)]
    const chain = chainOf(stack, BASE)
    const terms = { chain_id: BASE, token_in: chain.usdc, token_out: chain.wrapped }
    const quote = await one.key.api.post('/api/swap/quote', { ...terms, amount_in: '1000000' })
    for (const quote_id of [String(quote.json.quote_id), 'quote_nope']) {
      expect((await other.key.api.post('/api/swap/execute', { quote_id })).code).toBe('NOT_FOUND')
    }
  })
})

describe('a repeated request', () => {
  it('is answered with the first transaction and moves nothing twice', async () => {
    const { key, address } = await newWallet(stack)
    const chain = chainOf(stack, BASE)
    await give(stack, BASE, address, '10', 'USDC')
    const body = { chain_id: BASE, amount_in: chain.oneUsdc.toString() }
    const headers = { 'idempotency-key': 'once' }
    const first = await key.api.post('/api/gas/swap', body, headers)
    await finalOf(key.api, first.json.tx_id)
    const again = await key.api.post('/api/gas/swap', body, headers)
    expect(again.json.tx_id, again.text).toBe(first.json.tx_id)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(await chain.balance(chain.usdc, address)).toBe(9n * chain.oneUsdc)
  })
})

describe('an account that delegates while it sends on its own', () => {
  it('loses none of its own transactions, and the sponsored call succeeds', async () => {
    const { key, address } = await newWallet(stack)
    const chain = chainOf(stack, BASE)
    await give(stack, BASE, address, '100', 'USDC')
    await give(stack, BASE, address, '1', 'native')
    const own = () => key.api.post('/api/tx/send', { chain_id: BASE, to: newAddress(), value: '1' })
    const swap = () =>
      key.api.post('/api/swap/execute', {
        chain_id: BASE,
        token_in: chain.usdc,
        token_out: chain.wrapped,
        amount_in: chain.oneUsdc.toString(),
      })
    const sent = await Promise.all([own(), own(), swap(), own(), swap(), own(), swap(), own()])
    for (const { json, text } of sent) {
      expect(await finalOf(key.api, json.tx_id), text).toMatchObject({ status: 'confirmed' })
    }
    // Five sends and one authorization.
    expect(await chain.client.getTransactionCount({ address })).toBe(6)
    expect(await chain.balance(chain.usdc, address)).toBe(97n * chain.oneUsdc)
  })
})

describe('calls that wait for their owner', () => {
  const PAID_FOR = ['swap', 'defi_deposit', 'defi_withdraw', 'gas_swap']
  const ASK = { name: 'ask', effect: 'require_approval', when: { operations: PAID_FOR } }

  it('are signed as approved, the delegation too, and end declined, withdrawn or on chain', async () => {
    const { key, address } = await newWallet(stack)
    const chain = chainOf(stack, BASE)
    await give(stack, BASE, address, '100', 'USDC')
    const policy = { rules: [ASK], default: 'allow' }
    const patched = await stack.owner.call('PATCH', `/keys/${key.keyId}`, { body: { policy } })
    expect(patched.status, patched.text).toBe(200)
    const ask = async (path: string, body: object) => {
      const { status, json, text } = await key.api.post(path, { chain_id: BASE, ...body })
      expect(status, text).toBe(202)
      expect(json).toMatchObject({ status: 'awaiting_approval', tx_hash: null })
      return { txId: json.tx_id, approval: `/approvals/${Object(json.approval).approval_id}` }
    }
    const approve = async ({ txId, approval }: Awaited<ReturnType<typeof ask>>) => {
      const { status, text } = await stack.owner.post(`${approval}/approve`, {})
      expect(status, text).toBe(200)
      const done = await finalOf(key.api, txId)
      expect(done, JSON.stringify(done)).toMatchObject({ status: 'confirmed' })
      expect((await stack.owner.get(approval)).json).toMatchObject({
        ...{ status: 'approved', tx_status: 'confirmed', error: null },
      })
    }
    const one = chain.oneUsdc.toString()
    const market = { market_id: chain.marketId }
    const swap = { chain_id: BASE, token_in: chain.usdc, token_out: chain.wrapped, amount_in: one }
    const params = { name: 'execute_swap', arguments: swap }
    const accept = { accept: 'application/json, text/event-stream' }
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
    const { text } = await key.api.post('/mcp', call, accept)
    const { result } = JSON.parse(text.slice(text.indexOf('{')))
    expect(result.isError ?? false, text).toBe(false)
    const { tx_id, status, approval } = result.structuredContent
    expect(status).toBe('awaiting_approval')
    const swapped = { txId: tx_id, approval: `/approvals/${approval.approval_id}` }
    const [gas, deposit, declined, withdrawn] = [
      await ask('/api/gas/swap', { amount_in: one }),
      await ask('/api/defi/deposit', { ...market, amount: (5n * chain.oneUsdc).toString() }),
      await ask('/api/defi/deposit', { ...market, amount: one }),
      await ask('/api/gas/swap', { amount_in: (2n * chain.oneUsdc).toString() }),
    ]
    expect((await stack.owner.get(deposit.approval)).json).toMatchObject({
      ...{ status: 'pending', tx_status: 'awaiting_approval' },
      call: {
        operation: 'defi_deposit',
        decoded: { moves: [{ token: chain.usdc.toLowerCase(), amount: '5000000' }] },
        intent: { venue: chain.vault, token_in: chain.usdc, token_out: chain.vault, fee_bps: 30 },
      },
    })
    await stack.owner.post(`${declined.approval}/decline`, { comment: 'too much' })
    expect((await key.api.post(`/api/tx/${withdrawn.txId}/withdraw`, {})).status).toBe(200)
    // The account sends nothing and is asked for nothing until somebody has said yes.
    expect(await chain.client.getTransactionCount({ address })).toBe(0)
    await Promise.all([swapped, gas, deposit].map(approve))
    expect(await chain.client.getTransactionCount({ address })).toBe(1)
    expect(await chain.balance(chain.usdc, address)).toBe(93n * chain.oneUsdc)
    expect(await chain.balance(chain.wrapped, address)).toBeGreaterThan(0n)
    expect(await chain.client.getBalance({ address })).toBeGreaterThan(0n)
    const byCommandLine = async () => {
      let [out, err] = ['', '']
      const write = { out: (text: string) => (out += text), err: (text: string) => (err += text) }
      const env = {
        COUNTERSIGN_URL: stack.service.dev().base_url,
        COUNTERSIGN_API_KEY: key.secret,
        COUNTERSIGN_HOME: stack.service.home,
      }
      const io: Io = { env, ...write, isInteractive: false }
      const route = ['--chain', `${BASE}`, '--from', 'usdc', '--to', 'native', '--amount', one]
      const ended = runProgram(io, ['swap', ...route, '--yes', '--json'])
      const id = /waits for approval \(ask\).*(apr_\w{26})/
      await expect.poll(() => err, { timeout: 60_000 }).toMatch(id)
      await stack.owner.post(`/approvals/${id.exec(err)?.[1]}/approve`, {})
      expect(await ended, err).toBe(0)
      expect(JSON.parse(out)).toMatchObject({ kind: 'swap', status: 'confirmed' })
    }
    const withdrawal = await ask('/api/defi/withdraw', { ...market, shares: 'max' })
    await Promise.all([approve(withdrawal), byCommandLine()])
    expect(await chain.balance(chain.vault, address)).toBe(0n)
    expect((await key.api.get(`/api/tx/${declined.txId}`)).json).toMatchObject({
      ...{ status: 'declined', tx_hash: null },
      error: { message: 'too much' },
    })
    expect((await key.api.get('/api/limits')).json.reserved_usd).toBe('0.00')
    const { home } = stack.service
    const { report } = await auditHome({
      ...{ home, services: null, identity: null, registry: null, root: null },
    })
    expect(report.problems).toEqual([])
  })
})

describe('what people run', () => {
  it('the MCP example swaps and deposits with a wallet that holds only USDC', async () => {
    const { key, address } = await newWallet(stack)
    const chain = chainOf(stack, BASE)
    await give(stack, BASE, address, '10', 'USDC')
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['dist/scripts/examples/mcp-agent.js'],
      {
        env: {
          ...process.env,
          COUNTERSIGN_URL: stack.service.dev().base_url,
          COUNTERSIGN_API_KEY: key.secret,
        },
      },
    )
    expect(stdout).toMatch(/swap final: confirmed/)
    expect(stdout).toMatch(/deposit final: confirmed/)
    expect(stdout).toMatch(/… checking limits/)
    expect(stdout).toMatch(/position: \d+ shares of /)
    expect(await chain.balance(chain.usdc, address)).toBe(7n * chain.oneUsdc)
  })

  it('the command line quotes, asks, swaps and follows to the end', async () => {
    const { key, address } = await newWallet(stack)
    const chain = chainOf(stack, BASE)
    await give(stack, BASE, address, '10', 'USDC')
    let [out, err] = ['', '']
    const answers = [false, true]
    const io: Io = {
      env: {
        COUNTERSIGN_URL: stack.service.dev().base_url,
        COUNTERSIGN_API_KEY: key.secret,
        COUNTERSIGN_HOME: stack.service.home,
      },
      out: (text) => {
        out += text
      },
      err: (text) => {
        err += text
      },
      isInteractive: true,
      confirm: async () => answers.shift() ?? false,
    }
    const args = ['swap', '--chain', `${BASE}`, '--from', 'usdc', '--to', 'native', '--json']
    const amount = ['--amount', `${chain.oneUsdc}`]
    expect(await runProgram(io, [...args, ...amount])).toBe(0)
    expect([out, await chain.balance(chain.usdc, address)]).toEqual(['', 10n * chain.oneUsdc])
    expect(await runProgram(io, [...args, ...amount]), err).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ kind: 'swap', status: 'confirmed' })
    expect(err).toMatch(/amount_out_min/)
    expect(err).toMatch(/tx_\w+ {2}confirmed/)
    expect(await chain.balance(chain.usdc, address)).toBe(9n * chain.oneUsdc)
    expect(await chain.client.getBalance({ address })).toBeGreaterThan(0n)
    const broke = await runProgram(io, [...args, '--amount', `${90n * chain.oneUsdc}`, '--yes'])
    expect(broke).toBe(3)
    expect(err).toContain('INSUFFICIENT_FUNDS')
  })
})
