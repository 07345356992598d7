import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { createUser } from '../../../src/identity-provider/login/create-user.js'
import type { HttpClient } from '../../support/http-client.js'
import { startReceiver, status } from '../../webhooks/receiver.js'
import { chainView, erc20Transfer, newAddress } from '../chain.js'
import { finalOf, type IssuedKey, issueKey, type Stack, usedToday } from '../stack.js'

const BASE = 8453
const USD = 1_000_000n
const ULID_ZERO = '0'.repeat(26)

export function describeKeys(stack: () => Stack): void {
  const sendUsdc = ({ api }: IssuedKey, usd: bigint) =>
    api.post('/api/tx/send', {
      chain_id: BASE,
      to: chainView(stack().service.dev(), BASE).usdc,
      data: erc20Transfer(newAddress(), usd * USD),
    })

  describe('keys', () => {
    test('a cap refuses what would pass it, says by how much, and reserves nothing', async () => {
      const key = await issueKey(stack(), { dailyUsd: '5', monthlyUsd: '8', chains: [BASE] })
      const refused = await sendUsdc(key, 6n)
      expect(refused).toMatchObject({ status: 403, code: 'LIMIT_EXCEEDED' })
      expect(refused.json.error?.details).toMatchObject({
        period: 'daily',
        limit_usd: '5.00',
        used_usd: '0.00',
      })
      expect(await usedToday(key.api)).toBe(0n)
      const sent = await sendUsdc(key, 4n)
      expect(sent.status, sent.text).toBe(200)
      await finalOf(key.api, sent.json.tx_id)
      const used = await usedToday(key.api)
      expect(used).toBeGreaterThan(4n * USD)
      expect(used).toBeLessThan(5n * USD)
      expect((await sendUsdc(key, 1n)).code).toBe('LIMIT_EXCEEDED')
      expect(await usedToday(key.api)).toBe(used)

      const raised = await stack().owner.call('PATCH', `/keys/${key.keyId}`, {
        body: { daily_limit_usd: 'unlimited' },
      })
      expect(raised.status, raised.text).toBe(200)
      const monthly = await sendUsdc(key, 4n)
      expect(monthly.json.error?.details.period).toBe('monthly')
      const within = await sendUsdc(key, 3n)
      expect(within.status, within.text).toBe(200)
    })

    test('racing sends never pass a cap together', async () => {
      const key = await issueKey(stack(), { dailyUsd: '3', chains: [BASE] })
      const answers = await Promise.all(Array.from({ length: 20 }, () => sendUsdc(key, 1n)))
      const taken = answers.filter(({ status: code }) => code === 200 || code === 202)
      expect(taken).toHaveLength(2)
      expect(answers.filter(({ code }) => code === 'LIMIT_EXCEEDED')).toHaveLength(18)
    })

    test('a rotated key shares its counters with its successor; both work for a while', async () => {
      const { owner, service } = stack()
      const key = await issueKey(stack(), { dailyUsd: '5', chains: [BASE] })
      const sent = await sendUsdc(key, 2n)
      await finalOf(key.api, sent.json.tx_id)
      const rotated = await owner.post(`/keys/${key.keyId}/rotate`)
      expect(rotated.status, rotated.text).toBe(200)
      const { key_id: keyId = '', secret = '' } = rotated.json
      const next: IssuedKey = { keyId, secret, api: service.api(secret) }
      expect(rotated.json.previous).toMatchObject({ key_id: key.keyId })
      expect(await usedToday(next.api)).toBe(await usedToday(key.api))
      expect((await sendUsdc(key, 1n)).status).toBe(200)
      expect((await sendUsdc(next, 1n)).status).toBe(200)
      expect((await sendUsdc(key, 1n)).code).toBe('LIMIT_EXCEEDED')
      expect((await sendUsdc(next, 1n)).code).toBe('LIMIT_EXCEEDED')
      const again = await owner.post(`/keys/${key.keyId}/rotate`)
      expect(again).toMatchObject({ status: 400, code: 'INVALID_REQUEST' })
    })

    test('a revoked key can neither read nor sign, at once and for good', async () => {
      const { owner } = stack()
      const key = await issueKey(stack(), { chains: [BASE] })
      expect((await key.api.get('/api/limits')).status).toBe(200)
      expect((await owner.post(`/keys/${key.keyId}/revoke`)).status).toBe(200)
      for (const answer of [await key.api.get('/api/limits'), await sendUsdc(key, 1n)]) {
        expect(answer).toMatchObject({ status: 401, code: 'INVALID_KEY' })
      }
      const patched = await owner.call('PATCH', `/keys/${key.keyId}`, { body: { name: 'again' } })
      expect(patched.status).toBe(404)
      expect((await owner.post(`/keys/${key.keyId}/rotate`)).status).toBe(400)
    })

    test('chains can be taken from a key and given back', async () => {
      const { owner } = stack()
      const key = await issueKey(stack(), { chains: [BASE] })
      const allow = (allowed_chains: number[]) =>
        owner.call('PATCH', `/keys/${key.keyId}`, { body: { allowed_chains } })
      expect((await allow([10])).status).toBe(200)
      expect(await sendUsdc(key, 1n)).toMatchObject({ status: 403, code: 'CHAIN_NOT_ALLOWED' })
      const read = await key.api.get(`/api/wallet/native-balance?chain_id=${BASE}`)
      expect(read.code).toBe('CHAIN_NOT_ALLOWED')
      expect((await allow([10, BASE])).status).toBe(200)
      const sent = await sendUsdc(key, 1n)
      expect(sent.status, sent.text).toBe(200)
      expect((await allow([5])).code).toBe('CHAIN_NOT_SUPPORTED')
    })

    test('a read key reads and cannot send', async () => {
      const { keys } = stack().service.dev()
      const api = stack().service.api(keys.read.secret)
      expect((await api.get('/api/limits')).status).toBe(200)
      const refused = await sendUsdc({ keyId: keys.read.key_id, secret: '', api }, 1n)
      expect(refused).toMatchObject({ status: 403, code: 'PERMISSION_DENIED' })
      expect(await usedToday(api)).toBe(0n)
    })
  })

  describe("another user's things", () => {
    let stranger: HttpClient
    beforeAll(async () => {
      const { service } = stack()
      const user = { email: 'eve@example.test', password: randomBytes(18).toString('base64url') }
      await createUser(join(service.home, 'identity-provider'), user.email, user.password)
      stranger = service.console(await service.token(user))
    })

    test('cannot be told from things that do not exist', async () => {
      const { service, owner } = stack()
      const { sub_wallet_id, keys } = service.dev()
      const receiver = await startReceiver(status(204))
      const hook = await owner.post('/webhooks', { url: receiver.url })
      const webhookId = String(hook.json.webhook_id)
      const keyOf = (id: string) => ({
        name: 'stolen',
        sub_wallet_id: id,
        permission: 'trade',
        daily_limit_usd: 'unlimited',
        monthly_limit_usd: 'unlimited',
      })
      const attempts: readonly (readonly [string, string, string, object?])[] = [
        ['POST', `/keys/{}/rotate`, keys.trade.key_id],
        ['POST', `/keys/{}/revoke`, keys.trade.key_id],
        ['PATCH', `/keys/{}`, keys.trade.key_id, { name: 'mine' }],
        ['DELETE', `/webhooks/{}`, webhookId],
      ]
      for (const [method, path, theirs, body] of attempts) {
        const none = `${theirs.slice(0, theirs.indexOf('_'))}_${ULID_ZERO}`
        const options = body === undefined ? {} : { body }
        const real = await stranger.call(method, path.replace('{}', theirs), options)
        const fake = await stranger.call(method, path.replace('{}', none), options)
        expect(real.status, `${method} ${path}`).toBe(404)
        expect(comparable(real.text, theirs, real.json.error?.request_id)).toBe(
          comparable(fake.text, none, fake.json.error?.request_id),
        )
      }
      expect((await stranger.post('/keys', keyOf(sub_wallet_id))).status).toBe(404)
      for (const path of ['/wallets', '/keys', '/webhooks', '/transactions']) {
        const list = Object.values((await stranger.get(path)).json).find(Array.isArray)
        expect(list, path).toEqual([])
      }
      expect((await owner.call('DELETE', `/webhooks/${webhookId}`)).status).toBe(200)
      await receiver.stop()
    })

    test('stay out of reach of a key of their own', async () => {
      const made = await stranger.post('/wallets', { name: 'own' })
      expect(made.status, made.text).toBe(201)
      const theirs = await issueKey(
        { service: stack().service, owner: stranger },
        { subWalletId: String(made.json.sub_wallet_id) },
      )
      const sent = await stack().service.api().post('/api/tx/send', {
        chain_id: BASE,
        to: newAddress(),
        value: '1',
      })
      const read = await theirs.api.get(`/api/tx/${sent.json.tx_id}`)
      expect(read).toMatchObject({ status: 404, code: 'NOT_FOUND' })
      const address = await theirs.api.get('/api/wallet/address')
      expect(address.json.addresses?.evm).not.toBe(stack().service.dev().address)
    })
  })
}

/** An error body without what differs between any two answers. */
function comparable(text: string, id: string, requestId: string | undefined): string {
  return text.replaceAll(id, 'id').replaceAll(requestId ?? '', 'request')
}
