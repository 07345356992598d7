import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { GATES } from '../../actors/sub-wallet/core/lifecycle.js'
import { type PastDecision, pastDecision } from '../../src/cli/replay/past-decision.js'
import { type ReplayedDecision, replayDecision } from '../../src/cli/replay/replay-decision.js'
import type { TxId } from '../../src/domain/ids.js'
import { fault } from '../../src/errors/fault.js'
import { type Environment, openEnvironment } from '../../src/store/environment.js'
import { createReader, type Reader } from '../../src/store/reader.js'
import { chainOf, give, newWallet } from '../defi/sponsored-wallet.js'
import { newAddress } from './chain.js'
import { finalOf, type IssuedKey, issueKey, type Stack, startStack } from './stack.js'

const BASE = 8453
/** Of the native coin, wei: some cents. */
const CENTS = '10000000000000'

let stack: Stack
let environment: Environment
let reader: Reader

beforeAll(async () => {
  stack = await startStack()
  environment = openEnvironment(storeOf(), undefined, () => undefined)
  reader = createReader(environment)
})
afterAll(async () => {
  await environment?.root.close()
  await stack?.service.stop()
})

const storeOf = () => join(stack.service.home, 'service', 'store')
const payment = (value = CENTS) => ({ chain_id: BASE, to: newAddress(), value })

function decided(txId: unknown): PastDecision {
  reader.fresh()
  const decision = pastDecision(environment, reader, txId as TxId)
  if (decision === null) throw new Error(`${txId} left no trace`)
  return decision
}

async function send(key: IssuedKey, body: object = payment(), status = 200): Promise<string> {
  const sent = await key.api.post('/api/tx/send', body)
  expect(sent.status, sent.text).toBe(status)
  return String(sent.json.tx_id)
}

/** A refused call has an id in the trail alone. */
async function refused(key: IssuedKey, code: string, body: object = payment()): Promise<string> {
  const answer = await key.api.post('/api/tx/send', body)
  expect(answer.json.error?.code, answer.text).toBe(code)
  return vi.waitFor(
    async () => {
      const { json } = await stack.owner.get('/audit?type=send.refused&limit=100')
      const records = (json as { records?: { key_id: string; tx_id: string; details: object }[] })
        .records
      const own = records?.find(({ key_id }) => key_id === key.keyId)
      expect(own?.details).toMatchObject({ code })
      return String(own?.tx_id)
    },
    { timeout: 30_000, interval: 250 },
  )
}

async function patch(key: IssuedKey, body: object): Promise<void> {
  const answer = await stack.owner.call('PATCH', `/keys/${key.keyId}`, { body })
  expect(answer.status, answer.text).toBe(200)
}

function results({ steps }: ReplayedDecision): Record<string, string> {
  return Object.fromEntries(steps.map(({ gate, result }) => [gate, result]))
}

describe('a decision of the past, made once more', () => {
  test('lets a send through at each gate, though its key may do less since', async () => {
    const key = await issueKey(stack, { dailyUsd: '10' })
    const first = await send(key)
    const second = await send(key)
    await patch(key, { daily_limit_usd: '0.01', allowed_chains: [1] })
    for (const txId of [first, second]) {
      const replayed = replayDecision(reader, decided(txId))
      expect(replayed).toMatchObject({ recorded: 'allowed', replayed: 'allowed', same: true })
      expect(results(replayed)).toMatchObject({
        ...{ key: 'passed', frozen: 'passed', chain: 'passed', policy: 'passed' },
        ...{ caps: 'passed', nonce: 'passed', screening: 'not replayed' },
      })
    }
  })

  test('refuses at a cap by the same sums, and not by others', async () => {
    const key = await issueKey(stack, { dailyUsd: '0.5' })
    await finalOf(key.api, await send(key))
    const txId = await refused(key, 'LIMIT_EXCEEDED', payment('1000000000000000000'))
    await finalOf(key.api, await send(key))
    const decision = decided(txId)
    const replayed = replayDecision(reader, decision)
    expect(replayed).toMatchObject({ replayed: 'LIMIT_EXCEEDED', same: true, differsAt: null })
    expect(results(replayed).caps).toBe('refused')
    const reasons = { ...decision.reasons, used_usd: '0.00' }
    const other = replayDecision(reader, { ...decision, reasons })
    expect(other.same).toBe(false)
    expect(other.differsAt).toMatch(/^caps: used_usd was 0\.00 and is /)
  })

  test('refuses by the policy of then, by what that had counted', async () => {
    const key = await issueKey(stack)
    const rule = { name: 'one', effect: 'deny', when: { count: { per_seconds: 3600, gt: 1 } } }
    await patch(key, { policy: { rules: [rule], default: 'allow' } })
    const allowed = await send(key)
    await finalOf(key.api, allowed)
    const txId = await refused(key, 'POLICY_DENIED')
    await patch(key, { policy: null })
    expect(replayDecision(reader, decided(allowed))).toMatchObject({ same: true })
    const replayed = replayDecision(reader, decided(txId))
    expect(replayed).toMatchObject({ replayed: 'POLICY_DENIED', same: true })
    expect(results(replayed).policy).toBe('refused')
  })

  test('refuses what was frozen, and says why no list is asked again', async () => {
    const key = await issueKey(stack)
    await stack.owner.post('/freeze', { scope: 'key', id: key.keyId })
    const during = Date.now()
    await stack.owner.post('/unfreeze', { scope: 'key', id: key.keyId })
    const lifted = decided(await send(key))
    expect(replayDecision(reader, lifted)).toMatchObject({ same: true })
    // Nearly all that is frozen ends before its wallet sees it, and leaves no entry.
    const frozen = { ...lifted, atMs: during, code: 'FROZEN' }
    expect(replayDecision(reader, frozen)).toMatchObject({ replayed: 'FROZEN', same: true })
    expect(replayDecision(reader, { ...frozen, code: null })).toMatchObject({
      ...{ recorded: 'allowed', replayed: 'FROZEN', same: false, differsAt: 'frozen' },
    })

    const other = await issueKey(stack)
    const payee = newAddress()
    await stack.owner.post('/address-rules', { address: payee, action: 'block' })
    const body = { ...payment(), to: payee }
    const blocked = replayDecision(reader, decided(await refused(other, 'ADDRESS_BLOCKED', body)))
    expect(blocked).toMatchObject({ recorded: 'ADDRESS_BLOCKED', same: true })
    expect(results(blocked)).toMatchObject({ caps: 'passed', screening: 'not replayed' })
  })

  test('of a call that waited, and of one that the service pays for, is the same', async () => {
    const key = await issueKey(stack)
    const rule = { name: 'ask', effect: 'require_approval', when: { value_native_gt: '1' } }
    await patch(key, { policy: { rules: [rule], default: 'allow' } })
    const waiting = await key.api.post('/api/tx/send', payment())
    expect(waiting.json.status, waiting.text).toBe('awaiting_approval')
    const { approval_id } = waiting.json.approval as { approval_id: string }
    expect(replayDecision(reader, decided(waiting.json.tx_id))).toMatchObject({ same: true })
    await stack.owner.post(`/approvals/${approval_id}/approve`, {})
    await finalOf(key.api, String(waiting.json.tx_id))
    expect(replayDecision(reader, decided(waiting.json.tx_id))).toMatchObject({ same: true })

    const wallet = await newWallet(stack)
    const chain = chainOf(stack, BASE)
    await give(stack, BASE, wallet.address, '5', 'USDC')
    const deposit = await wallet.key.api.post('/api/defi/deposit', {
      ...{ chain_id: BASE, market_id: chain.marketId, amount: chain.oneUsdc.toString() },
    })
    expect(deposit.status, deposit.text).toBeLessThan(300)
    const replayed = replayDecision(reader, decided(deposit.json.tx_id))
    expect(replayed).toMatchObject({ recorded: 'allowed', same: true })
    expect(results(replayed)['gas-budget']).toBe('not replayed')

    const asks = { name: 'ask', effect: 'require_approval', when: { operations: ['defi_deposit'] } }
    await patch(wallet.key, { policy: { rules: [asks], default: 'allow' } })
    const unsigned = await wallet.key.api.post('/api/defi/deposit', {
      ...{ chain_id: BASE, market_id: chain.marketId, amount: chain.oneUsdc.toString() },
    })
    expect(unsigned.json.status, unsigned.text).toBe('awaiting_approval')
    const withdrawn = await wallet.key.api.post(`/api/tx/${unsigned.json.tx_id}/withdraw`, {})
    expect(withdrawn.status, withdrawn.text).toBe(200)
    const neverSigned = replayDecision(reader, decided(unsigned.json.tx_id))
    expect(neverSigned).toMatchObject({ recorded: 'allowed', same: true })
    expect(results(neverSigned).policy).toBe('passed')
  })

  test('by other gates than of then is told with the gate at which they part', async () => {
    const txId = await send(await issueKey(stack))
    const gates = GATES.map((gate) =>
      gate.name === 'caps' ? { ...gate, passes: refusesAll } : gate,
    )
    expect(replayDecision(reader, decided(txId), gates)).toMatchObject({
      ...{ recorded: 'allowed', replayed: 'LIMIT_EXCEEDED', same: false, differsAt: 'caps' },
    })
    const lax = GATES.filter(({ name }) => name !== 'chain')
    const key = await issueKey(stack)
    const cap = await refused(key, 'LIMIT_EXCEEDED', payment('900000000000000000000000'))
    const open = lax.map((gate) => (gate.name === 'caps' ? { ...gate, passes: () => true } : gate))
    expect(replayDecision(reader, decided(cap), open)).toMatchObject({
      ...{ recorded: 'LIMIT_EXCEEDED', replayed: 'allowed', same: false, differsAt: 'caps' },
    })
  })

  test('is shown by the command, and what is unknown is not found', async () => {
    const txId = await send(await issueKey(stack))
    const { code, stdout } = await run(txId)
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ tx_id: txId, recorded: 'allowed', same: true })
    expect((await run(`${txId.slice(0, -6)}000000`)).code).toBe(2)
  })
})

const refusesAll: (typeof GATES)[number]['passes'] = (turn, { token, request }) => {
  turn.refuseSend(token, fault('LIMIT_EXCEEDED', {}), request)
  return false
}

function run(txId: string): Promise<{ readonly code: number; readonly stdout: string }> {
  const args = ['dist/src/cli/main.js', 'replay', txId, '--json', '--home', stack.service.home]
  return new Promise((resolve) => {
    execFile(process.execPath, args, (error, stdout) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout })
    })
  })
}
