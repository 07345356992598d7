import { describe, expect, test } from 'vitest'
import { newAddress } from '../chain.js'
import { allFinal, issueKey, type Stack, transactionsOf, usedToday } from '../stack.js'

const POLYGON = 137

export function describeIdempotency(stack: () => Stack): void {
  const body = () => ({ chain_id: POLYGON, to: newAddress(), value: '7' })
  const named = (name: string) => ({ 'idempotency-key': name })

  describe('an Idempotency-Key', () => {
    test('gives the first answer again, and sends once', async () => {
      const key = await issueKey(stack())
      const request = body()
      const first = await key.api.post('/api/tx/send', request, named('replay'))
      expect(first.status, first.text).toBe(200)
      expect(first.headers.get('idempotency-replayed')).toBeNull()
      await allFinal(stack().owner, key)
      const used = await usedToday(key.api)
      const again = await key.api.post('/api/tx/send', request, { 'x-idempotency-key': 'replay' })
      expect(again.status).toBe(200)
      expect(again.headers.get('idempotency-replayed')).toBe('true')
      expect(again.json).toMatchObject({
        tx_id: first.json.tx_id,
        tx_hash: first.json.tx_hash,
        status: 'broadcast',
      })
      expect(await transactionsOf(stack().owner, key.keyId)).toHaveLength(1)
      expect(await usedToday(key.api)).toBe(used)
    })

    test('is refused for another body', async () => {
      const key = await issueKey(stack())
      const request = body()
      await key.api.post('/api/tx/send', request, named('reuse'))
      const other = await key.api.post('/api/tx/send', { ...request, value: '8' }, named('reuse'))
      expect(other).toMatchObject({ status: 422, code: 'IDEMPOTENCY_KEY_REUSED' })
    })

    test('makes one transaction of many requests at once', async () => {
      const key = await issueKey(stack())
      const request = body()
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => key.api.post('/api/tx/send', request, named('race'))),
      )
      // 202 says that it is signed, and not out yet: who asks again may come in between.
      const isSent = ({ status }: { readonly status: number }) => status === 200 || status === 202
      const sent = answers.filter(isSent)
      const rest = answers.filter((answer) => !isSent(answer))
      expect(sent.length).toBeGreaterThan(0)
      expect(new Set(sent.map(({ json }) => json.tx_id)).size).toBe(1)
      for (const { status, code } of rest) {
        expect([status, code]).toEqual([409, 'IDEMPOTENCY_IN_PROGRESS'])
      }
      expect(await transactionsOf(stack().owner, key.keyId)).toHaveLength(1)
    })

    test('survives the rotation of its API key, and is not shared between keys', async () => {
      const { owner, service } = stack()
      const key = await issueKey(stack())
      const request = body()
      const first = await key.api.post('/api/tx/send', request, named('rotated'))
      const { json } = await owner.post(`/keys/${key.keyId}/rotate`)
      const next = service.api(String(json.secret))
      const again = await next.post('/api/tx/send', request, named('rotated'))
      expect(again.json.tx_id).toBe(first.json.tx_id)
      const stranger = await issueKey(stack())
      const own = await stranger.api.post('/api/tx/send', request, named('rotated'))
      expect(own.status, own.text).toBe(200)
      expect(own.json.tx_id).not.toBe(first.json.tx_id)
    })
  })
}
