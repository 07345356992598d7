import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { encodeFunctionData, getAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { z } from 'zod'
import type { transactionDetail } from '../../src/api/console-transaction-detail.js'
import { erc20Abi } from '../../src/contracts/abis/erc20.js'
import { serviceLayout } from '../../src/custody/domain-keys/layout.js'
import { openEvidenceReader } from '../../src/custody/evidence/evidence-log.js'
import { EVIDENCE_HASH_BYTES } from '../../src/custody/evidence/stored-evidence.js'
import type { Hex } from '../../src/domain/ids.js'
import { createUser } from '../../src/identity-provider/login/create-user.js'
import {
  type Chain,
  chainOf,
  give,
  newWallet,
  type SponsoredWallet,
} from '../defi/sponsored-wallet.js'
import { erc20Transfer, newAddress } from '../e2e/chain.js'
import { finalOf, type IssuedKey, issueKey, type Stack, startStack } from '../e2e/stack.js'

/** What one answer tells a person of one call of each kind, and of those that were refused. */

type Detail = z.infer<typeof transactionDetail>

const BASE = 8453
const ONE_GWEI = 10n ** 9n
/** `deposit()` of wrapped native currency: a contract's own function, which has to be run. */
const WRAP: Hex = '0xd0e30db0'

let stack: Stack
let wallet: SponsoredWallet
let chain: Chain

beforeAll(async () => {
  stack = await startStack()
  wallet = await newWallet(stack)
  chain = chainOf(stack, BASE)
  await give(stack, BASE, wallet.address, '1', 'native')
  await give(stack, BASE, wallet.address, '1000', 'USDC')
})
afterAll(async () => {
  await stack?.service.stop()
})

async function detailOf(txId: unknown): Promise<Detail> {
  const answer = await stack.owner.get(`/transactions/${txId}`)
  expect(answer.status, answer.text).toBe(200)
  return answer.json as unknown as Detail
}

async function sent(path: string, body: object): Promise<Detail> {
  const made = await wallet.key.api.post(path, body)
  expect(made.status, made.text).toBeOneOf([200, 202])
  const done = await finalOf(wallet.key.api, made.json.tx_id)
  expect(done.status).toBe('confirmed')
  return detailOf(made.json.tx_id)
}

const send = (call: object) => sent('/api/tx/send', { chain_id: BASE, ...call })

/** A call that was refused, as it is found by its entry in the trail. */
async function refused(
  key: IssuedKey,
  code: string,
  call: object,
  path = '/api/tx/send',
): Promise<Detail> {
  const answer = await key.api.post(path, { chain_id: BASE, ...call })
  expect(answer.code, answer.text).toBe(code)
  const found = await vi.waitFor(
    async () => {
      const { json } = await stack.owner.get(`/audit?type=send.refused&key_id=${key.keyId}`)
      const [newest] = (json as { records?: { tx_id: string }[] }).records ?? []
      expect(newest).toMatchObject({ details: { code } })
      return newest?.tx_id
    },
    { timeout: 30_000, interval: 250 },
  )
  const detail = await detailOf(found)
  expect(detail).toMatchObject({
    ...{ tx_id: found, status: 'refused', tx_hash: null, error: { code } },
    ...{ attempts: [], signatures: [], events: [], approvals: [] },
    ...{ timeline: [{ step: 'refused' }], audit: [{ type: 'send.refused' }] },
  })
  return detail
}

describe('what a call was to do', () => {
  test('is the movement itself of a plain send, which nobody had to run', async () => {
    const to = getAddress(newAddress())
    const { simulation, valuation, signatures } = await send({ to, value: ONE_GWEI.toString() })
    expect(simulation).toMatchObject({
      ...{ basis: 'words', gas_used: null, approvals: [], left_out: 0 },
      note: expect.stringContaining('No simulation was needed'),
      moves: [
        {
          ...{ way: 'out', token: null, symbol: 'ETH', decimals: 18, party: to },
          ...{ amount: ONE_GWEI.toString(), at_least: false, usd: valuation?.value_usd },
        },
      ],
    })
    expect(valuation?.prices).toMatchObject([{ token: null, symbol: 'ETH' }])
    expect(signatures).toHaveLength(1)
  })

  test('is the transfer, and the price of its token, of a token that is sent', async () => {
    const to = getAddress(newAddress())
    const amount = 5n * chain.oneUsdc
    const data = erc20Transfer(to, amount)
    const { simulation, valuation } = await send({ to: chain.usdc, data })
    const move = { way: 'out', token: chain.usdc, symbol: 'USDC', decimals: 6, party: to }
    expect(simulation).toMatchObject({
      basis: 'words',
      moves: [{ ...move, amount: amount.toString(), usd: '5.00' }],
    })
    expect(valuation?.prices).toMatchObject([
      { symbol: 'ETH' },
      { token: chain.usdc, symbol: 'USDC', usd: '1' },
    ])
  })

  test('is what a node ran, of any other contract: what leaves, and what arrives', async () => {
    const value = ONE_GWEI.toString()
    const { simulation, valuation } = await send({ to: chain.wrapped, data: WRAP, value })
    expect(simulation).toMatchObject({
      ...{ basis: 'run', gas_used: expect.stringMatching(/^[1-9]\d{4}$/) },
      moves: [
        { way: 'out', token: null, amount: value, party: chain.wrapped, usd: valuation?.value_usd },
        { way: 'in', token: chain.wrapped, amount: value },
      ],
    })
    expect(valuation?.prices.map(({ token }) => token)).toContain(null)
  })

  test('is the approval, of a call that lets somebody take a token', async () => {
    const spender = getAddress(newAddress())
    const amount = 7n * chain.oneUsdc
    const data = encodeFunctionData({
      ...{ abi: erc20Abi, functionName: 'approve', args: [spender, amount] },
    })
    const { simulation } = await send({ to: chain.usdc, data })
    expect(simulation).toMatchObject({
      ...{ basis: 'run', moves: [] },
      approvals: [{ token: chain.usdc, symbol: 'USDC', spender, amount: amount.toString() }],
    })
  })

  test('is what the Router holds a swap to, and each of its signatures has both approvals', async () => {
    const amount = 100n * chain.oneUsdc
    const { simulation, signatures, valuation, screened_against } = await sent(
      '/api/swap/execute',
      {
        ...{ chain_id: BASE, token_in: chain.usdc, token_out: chain.wrapped },
        amount_in: amount.toString(),
      },
    )
    expect(simulation).toMatchObject({
      basis: 'terms',
      moves: [
        { way: 'out', token: chain.usdc, amount: amount.toString(), usd: valuation?.value_usd },
        { way: 'in', token: chain.wrapped, at_least: true, amount: expect.stringMatching(/^\d+$/) },
      ],
    })
    expect(screened_against?.map(({ list }) => list)).toContain('dev-sample')
    expect(valuation).toMatchObject({ gas_usd: null, reserved_usd: '100.00' })
    expect(signatures.map(({ of }) => of)).toEqual(['router_intent', 'delegation', 'transaction'])
    for (const { identity_provider: first } of signatures) expect(first).not.toBeNull()
  })

  test('is there for a call that waits for a person, and after it was declined', async () => {
    const key = await issueKey(stack, { subWalletId: wallet.subWalletId })
    const approvals = { needed: 1, expires_seconds: 3_600 }
    const rule = { name: 'ask', effect: 'require_approval', when: {}, approvals }
    const policy = { rules: [rule], default: 'allow' }
    const put = await stack.owner.call('PATCH', `/keys/${key.keyId}`, { body: { policy } })
    expect(put.status, put.text).toBe(200)
    const body = { chain_id: BASE, to: chain.wrapped, data: WRAP, value: '7' }
    const waits = await key.api.post('/api/tx/send', body)
    expect(waits.status, waits.text).toBe(202)
    const moves = [{ way: 'out', token: null, amount: '7' }, { way: 'in' }]
    const asked = await detailOf(waits.json.tx_id)
    expect(asked).toMatchObject({ simulation: { basis: 'run', moves }, signatures: [] })
    expect(asked.screened_against?.map(({ list }) => list)).toContain('dev-sample')
    const approvalId = asked.approvals[0]?.approval_id
    const declined = await stack.owner.post(`/approvals/${approvalId}/decline`, {})
    expect(declined.status, declined.text).toBe(200)
    expect(await detailOf(waits.json.tx_id)).toMatchObject({
      ...{ status: 'declined', simulation: { basis: 'run', moves } },
    })
  })
})

describe('both approvals', () => {
  test('are those of the very entry of the evidence that verify-audit verifies', async () => {
    const { signatures, attempts } = await send({ to: newAddress(), value: '3' })
    const [signature] = signatures
    expect(signature).toMatchObject({
      ...{ of: 'transaction', tx_hash: attempts[0]?.tx_hash },
      quorum_signer: { signed_at: attempts[0]?.signed_at },
      identity_provider: { evidence: { log: 'service' } },
    })
    const first = signature?.identity_provider
    if (!first) throw new Error('no approval is shown')
    const { recorded_at, evidence, signature: approval } = first
    expect(Date.parse(recorded_at)).toBeLessThanOrEqual(Date.parse(attempts[0]?.signed_at ?? ''))
    const log = openEvidenceReader(serviceLayout(stack.service.home).evidence)
    try {
      const { bytes } = log.at(evidence.chain, evidence.index) ?? { bytes: Buffer.alloc(0) }
      const hex = Buffer.from(bytes).toString('hex')
      expect(hex.slice(0, 2 * EVIDENCE_HASH_BYTES)).toBe(evidence.hash.slice(2))
      expect(hex).toContain(approval.slice(2))
    } finally {
      await log.close()
    }
  })
})

describe('a call that was refused', () => {
  test('says why in words, what it would have moved, and what it was worth', async () => {
    const key = await issueKey(stack, { subWalletId: wallet.subWalletId, dailyUsd: '2' })
    const to = getAddress(newAddress())
    const data = erc20Transfer(to, 5n * chain.oneUsdc)
    const detail = await refused(key, 'LIMIT_EXCEEDED', { to: chain.usdc, data })
    expect(detail.error?.message).toContain('$0.00 of the daily $2.00 was used')
    expect(detail).toMatchObject({
      ...{ from: wallet.address, data: data.slice(0, 10), data_bytes: 68 },
      simulation: {
        basis: 'words',
        moves: [{ way: 'out', symbol: 'USDC', party: to, amount: '5000000', usd: '5.00' }],
      },
      valuation: { value_usd: '5.00', prices: [{ symbol: 'ETH' }, { symbol: 'USDC', usd: '1' }] },
      screened_against: [],
    })
  })

  test('says of a swap what the Router would have held it to, and that its gas was not its own', async () => {
    const key = await issueKey(stack, { subWalletId: wallet.subWalletId, dailyUsd: '2' })
    const amount_in = (100n * chain.oneUsdc).toString()
    const terms = { token_in: chain.usdc, token_out: chain.wrapped, amount_in }
    const detail = await refused(key, 'LIMIT_EXCEEDED', terms, '/api/swap/execute')
    expect(detail).toMatchObject({
      ...{ kind: 'swap', to: chain.router },
      simulation: {
        basis: 'terms',
        moves: [
          { way: 'out', symbol: 'USDC', amount: amount_in, usd: '100.00' },
          { way: 'in', token: chain.wrapped, at_least: true },
        ],
      },
      valuation: { value_usd: '100.00', gas_usd: null, prices: [{ symbol: 'USDC', usd: '1' }] },
    })
  })

  test('names the lists that it was held against', async () => {
    const blocked = getAddress(newAddress())
    await stack.owner.post('/address-rules', { address: blocked, action: 'block' })
    const key = await issueKey(stack, { subWalletId: wallet.subWalletId })
    const detail = await refused(key, 'ADDRESS_BLOCKED', { to: blocked, value: '9' })
    expect(detail.error?.message).toContain(`It is ${blocked}`)
    expect(detail.screened_against?.map(({ list }) => list)).toContain('dev-sample')
    expect(detail.simulation).toMatchObject({
      ...{ basis: 'words', moves: [{ way: 'out', token: null, amount: '9', party: blocked }] },
    })
  })

  test('says of a run that failed that nothing would have moved', async () => {
    const key = await issueKey(stack, { subWalletId: wallet.subWalletId })
    const data = erc20Transfer(newAddress(), 1n)
    const detail = await refused(key, 'SIMULATION_REVERTED', { to: chain.vault, data })
    expect(detail.simulation).toMatchObject({ basis: 'run', moves: [] })
    expect(detail.simulation.note).toContain('it failed')
  })

  test("is found by nobody but its wallet's owner", async () => {
    const key = await issueKey(stack, { subWalletId: wallet.subWalletId, dailyUsd: '0.01' })
    const value = (10n ** 15n).toString()
    const { tx_id } = await refused(key, 'LIMIT_EXCEEDED', { to: newAddress(), value })
    const user = { email: 'stranger@example.test', password: randomBytes(12).toString('hex') }
    await createUser(join(stack.service.home, 'identity-provider'), user.email, user.password)
    const stranger = stack.service.console(await stack.service.token(user))
    expect((await stranger.get(`/transactions/${tx_id}`)).code).toBe('NOT_FOUND')
  })
})
