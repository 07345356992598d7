import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { give, newWallet } from '../../defi/sponsored-wallet.js'
import { status as answering, type Receiver, startReceiver } from '../../webhooks/receiver.js'
import { chainView, newAddress } from '../chain.js'
import { moveNativePrice } from '../move-price.js'
import { finalOf, type IssuedKey, issueKey, type Stack } from '../stack.js'

const POLYGON = 137
/** Nobody else's prices: its feed is moved. */
const ARBITRUM = 42161
const TYPES = ['requested', 'approved', 'declined', 'expired'].map((what) => `approval.${what}`)
/** Above it a person is asked. */
const ASKED_ABOVE = '1000000'
const ASKED = '1000001'

const ABOVE = { value_native_gt: ASKED_ABOVE }
const POLICY = {
  rules: [{ name: 'large', effect: 'require_approval', when: ABOVE }],
  default: 'allow',
}

/** A call that waits for its owner, over the wire; dev's software authorizer is the owner's. */
export function describeApprovals(stack: () => Stack): void {
  async function keyWith(policy: object = POLICY): Promise<IssuedKey> {
    return withPolicy(await issueKey(stack()), policy)
  }
  async function withPolicy(key: IssuedKey, policy: object = POLICY): Promise<IssuedKey> {
    const answer = await stack().owner.call('PATCH', `/keys/${key.keyId}`, { body: { policy } })
    expect(answer.status, answer.text).toBe(200)
    return key
  }
  async function waiting(
    key: IssuedKey,
    to = newAddress(),
    { chainId = POLYGON, value = ASKED } = {},
  ) {
    const body = { chain_id: chainId, to, value }
    const sent = await key.api.post('/api/tx/send', body)
    expect(sent.status, sent.text).toBe(202)
    expect(sent.json).toMatchObject({ tx_hash: null, nonce: null, status: 'awaiting_approval' })
    const { approval_id } = sent.json.approval as { approval_id: string }
    return { txId: String(sent.json.tx_id), approvalId: approval_id, body }
  }
  const decide = (approvalId: string, how: 'approve' | 'decline', body: object = {}) =>
    stack().owner.post(`/approvals/${approvalId}/${how}`, body)
  const shown = async (approvalId: string) =>
    (await stack().owner.get(`/approvals/${approvalId}`)).json
  const reserved = async (key: IssuedKey) => (await key.api.get('/api/limits')).json.reserved_usd
  async function approve(approvalId: string) {
    const answer = await decide(approvalId, 'approve')
    expect(answer.status, answer.text).toBe(200)
  }
  async function becomes(key: IssuedKey, txId: string, status: string) {
    return vi.waitFor(
      async () => {
        const { json } = await key.api.get(`/api/tx/${txId}`)
        expect(json.status).toBe(status)
        return json
      },
      { timeout: 60_000, interval: 100 },
    )
  }

  describe('a call that a rule sends to its owner', () => {
    let receiver: Receiver
    beforeAll(async () => {
      receiver = await startReceiver(answering(200))
      const { origin } = new URL(receiver.url)
      const events = TYPES
      const channel = { kind: 'ntfy', url: `${origin}/people`, token: 'tk_1', events }
      for (const body of [{ url: receiver.url, events }, channel]) {
        const made = await stack().owner.post('/webhooks', body)
        expect(made.status, made.text).toBe(201)
      }
    })
    afterAll(() => receiver?.stop())

    test('waits, is approved and is confirmed, while other sends go on', async () => {
      const key = await keyWith()
      const { txId, approvalId, body } = await waiting(key)
      const simulated = await key.api.post('/api/tx/simulate', body)
      expect(simulated.json.approval).toMatchObject({ rule: 'large', needed: 1 })
      const other = await key.api.post('/api/tx/send', { ...body, value: '7' })
      expect(other.status, other.text).toBeLessThan(300)
      expect(other.json.status).not.toBe('awaiting_approval')
      const listed = await stack().owner.get('/approvals?status=pending')
      expect(listed.json.approvals).toContainEqual(
        expect.objectContaining({ approval_id: approvalId, tx_id: txId, needed: 1 }),
      )
      await approve(approvalId)
      expect(await finalOf(key.api, txId)).toMatchObject({
        ...{ status: 'confirmed', tx_hash: expect.stringMatching(/^0x/) },
        approval: { approval_id: approvalId },
      })
      expect(await shown(approvalId)).toMatchObject({
        status: 'approved',
        decisions: [{ decision: 'approve', authorizer_id: 'software' }],
      })
    })

    test('waits over MCP too, as an answer and not as an error', async () => {
      const key = await keyWith()
      const args = { chain_id: POLYGON, to: newAddress(), value: ASKED }
      const params = { name: 'send_transaction', arguments: args }
      const { text } = await key.api.post(
        '/mcp',
        { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
        { accept: 'application/json, text/event-stream' },
      )
      const { result } = JSON.parse(text.slice(text.indexOf('{')))
      expect(result.isError ?? false).toBe(false)
      expect(result.structuredContent).toMatchObject({
        ...{ status: 'awaiting_approval', tx_hash: null },
        approval: { rule: 'large', needed: 1 },
      })
      await key.api.post(`/api/tx/${result.structuredContent.tx_id}/withdraw`, {})
    })

    test('is declined, with a comment that the agent reads, and holds nothing', async () => {
      const key = await keyWith()
      const { txId, approvalId } = await waiting(key)
      expect(await reserved(key)).not.toBe('0.00')
      const declined = await decide(approvalId, 'decline', { comment: 'ask me first' })
      expect(declined.status, declined.text).toBe(200)
      expect((await key.api.get(`/api/tx/${txId}`)).json).toMatchObject({
        ...{ status: 'declined', tx_hash: null, spend_usd: '0.00' },
        error: { message: 'ask me first' },
      })
      expect(await reserved(key)).toBe('0.00')
      expect((await decide(approvalId, 'approve')).status).toBe(400)
    })

    test('is withdrawn by the agent, and answers its Idempotency-Key until then', async () => {
      const key = await keyWith()
      const body = { chain_id: POLYGON, to: newAddress(), value: ASKED }
      const headers = { 'idempotency-key': `waits-${key.keyId}` }
      const first = await key.api.call('POST', '/api/tx/send', { body, headers })
      const again = await key.api.call('POST', '/api/tx/send', { body, headers })
      expect(again.status).toBe(202)
      expect(again.json).toEqual(first.json)
      const stranger = await issueKey(stack())
      const path = `/api/tx/${first.json.tx_id}/withdraw`
      expect((await stranger.api.post(path, {})).status).toBe(404)
      const withdrawn = await key.api.post(path, {})
      expect(withdrawn.status, withdrawn.text).toBe(200)
      expect(withdrawn.json.status).toBe('withdrawn')
      expect((await key.api.post(path, {})).status).toBe(400)
    })

    test('expires when nobody answers, and events tell of it', async () => {
      // It still waits when a busy machine answers its caller.
      const approvals = { needed: 1, expires_seconds: 2 }
      const rules = [{ name: 'soon', effect: 'require_approval', when: ABOVE, approvals }]
      const key = await keyWith({ rules, default: 'allow' })
      const { txId, approvalId } = await waiting(key)
      await becomes(key, txId, 'expired')
      expect(await shown(approvalId)).toMatchObject({ status: 'expired' })
      const { json } = await stack().owner.get('/audit?type=approval.expired')
      expect(json.records).toContainEqual(expect.objectContaining({ tx_id: txId }))
    })

    test('is dropped where the key was revoked, frozen, or the payee blocked meanwhile', async () => {
      const revoked = await keyWith()
      const first = await waiting(revoked)
      await stack().owner.post(`/keys/${revoked.keyId}/revoke`, {})
      // It ended with its key: nobody can be asked about it any more.
      expect((await decide(first.approvalId, 'approve')).json.error?.details).toMatchObject({
        status: 'expired',
      })
      const frozen = await keyWith()
      const second = await waiting(frozen)
      await stack().owner.post('/freeze', { scope: 'key', id: frozen.keyId })
      await approve(second.approvalId)
      const key = await keyWith()
      const payee = newAddress()
      const third = await waiting(key, payee)
      await stack().owner.post('/address-rules', { address: payee, action: 'block' })
      await approve(third.approvalId)
      const ends = new Map([
        [first.txId, 'INVALID_KEY'],
        [second.txId, 'FROZEN'],
        [third.txId, 'ADDRESS_BLOCKED'],
      ])
      for (const [txId, code] of ends) {
        // The revoked key reads nothing any more.
        expect(await becomes(key, txId, 'dropped')).toMatchObject({ error: { code } })
      }
      // People approved it; what became of it since is in the same record.
      expect(await shown(third.approvalId)).toMatchObject({
        ...{ status: 'approved', tx_status: 'dropped', error: { code: 'ADDRESS_BLOCKED' } },
      })
    })

    test('with a delay it is sent at its time, and nobody has to do anything', async () => {
      const rules = [{ name: 'slow', effect: 'allow', when: ABOVE, delay_seconds: 2 }]
      const key = await keyWith({ rules, default: 'allow' })
      const { txId } = await waiting(key)
      expect(await finalOf(key.api, txId)).toMatchObject({ status: 'confirmed' })
    })

    test('is asked about once more where its price has moved by a tenth, and why is said', async () => {
      const key = await keyWith()
      const value = String(10n ** 15n)
      const { txId, approvalId, body } = await waiting(key, newAddress(), {
        ...{ chainId: ARBITRUM, value },
      })
      // Each thread reads prices by itself: one that refuses the same call says what decides it, too.
      const poor = await issueKey(stack(), { dailyUsd: '0.01', monthlyUsd: '0.01' })
      const decidedUsd = async () => {
        const { code, json, text } = await poor.api.post('/api/tx/send', body)
        expect(code, text).toBe('LIMIT_EXCEEDED')
        return Number(json.error?.details.requested_usd)
      }
      const reservedUsd = async () => Number((await shown(approvalId)).spend_usd)
      const [before, reservedBefore] = [await decidedUsd(), await reservedUsd()]
      await moveNativePrice(stack(), ARBITRUM, 110n)
      try {
        await vi.waitFor(async () => expect(await decidedUsd()).toBeGreaterThan(before * 1.05), {
          timeout: 60_000,
          interval: 200,
        })
        await approve(approvalId)
        await vi.waitFor(
          async () => {
            expect(await shown(approvalId)).toMatchObject({
              ...{ status: 'pending', tx_status: 'awaiting_approval' },
              ...{ asked_again: 'price', decisions: [] },
            })
          },
          { timeout: 60_000, interval: 100 },
        )
        expect(await reservedUsd()).toBeGreaterThan(reservedBefore)
        await approve(approvalId)
        expect(await finalOf(key.api, txId)).toMatchObject({ status: 'confirmed' })
      } finally {
        await moveNativePrice(stack(), ARBITRUM, 100n)
      }
    })

    test('is dropped where its wallet was frozen, and held where it was emptied until it can end', async () => {
      const frozen = await newWallet(stack())
      const emptied = await newWallet(stack())
      const view = chainView(stack().service.dev(), POLYGON)
      const ends = new Map<string, string>()
      for (const [{ key, address, subWalletId }, code] of [
        [frozen, 'FROZEN'],
        [emptied, 'INSUFFICIENT_FUNDS'],
      ] as const) {
        await give(stack(), POLYGON, address, '1', 'native')
        await withPolicy(key)
        const { txId, approvalId } = await waiting(key)
        if (code === 'FROZEN') {
          await stack().owner.post('/freeze', { scope: 'wallet', id: subWalletId })
        } else await view.call('anvil_setBalance', [address, '0x0'])
        await approve(approvalId)
        if (code === 'INSUFFICIENT_FUNDS') {
          // Nodes refuse it, which proves nothing: it holds its spend until the wallet can end it.
          await becomes(key, txId, 'signed')
          expect(await reserved(key)).not.toBe('0.00')
          await give(stack(), POLYGON, address, '1', 'native')
          await finalOf(key.api, txId)
          expect(await reserved(key)).toBe('0.00')
          continue
        }
        const { error } = await becomes(key, txId, 'dropped')
        ends.set(code, String((error as { code: string } | undefined)?.code))
        expect(await reserved(key)).toBe('0.00')
      }
      expect([...ends.keys()]).toEqual([...ends.values()])
    })

    test('is told of to programs and to people, whatever becomes of it', async () => {
      const told = (path: string) =>
        receiver.received.filter((one) => (path === '/hook') === (one.path === '/hook'))
      await vi.waitFor(
        () => {
          const types = told('/hook').map(({ body }) => String(JSON.parse(body).type))
          expect([...new Set(types)].sort()).toEqual([...TYPES].sort())
          const words = told('/people').map(({ body }) => body)
          const url = /by the rule "large", until .* http:\/\/localhost:\d+\/approve\/apr_/
          expect(words).toContainEqual(expect.stringMatching(url))
          expect(told('/people').length).toBe(told('/hook').length)
        },
        { timeout: 60_000, interval: 100 },
      )
      const titles = told('/people').map(({ headers }) => decodedWord(headers.title))
      for (const said of ['waits for you', 'was approved', 'was declined', 'has expired']) {
        expect(titles).toContainEqual(expect.stringContaining(said))
      }
    })
  })
}

/** RFC 2047, base64. */
function decodedWord(word = ''): string {
  return Buffer.from(word.replace('=?UTF-8?B?', '').replace('?=', ''), 'base64').toString('utf8')
}
