import type { ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import type { Reply } from '../../support/http-client.js'
import { startReceiver } from '../../webhooks/receiver.js'
import { newAddress } from '../chain.js'
import { issueKey, type Stack } from '../stack.js'

const BASE = 8453
const SENDS = 10
/** Together as many a second as a key's bucket gains. */
const POLL_MS = 50
/** In the order of a life: a send that no reorg touches only moves on. */
const STATUSES = ['signed', 'broadcast', 'confirmed']
const EVENTS = ['transaction.broadcast', 'transaction.confirmed']

interface Told {
  readonly type: string
  readonly data: { readonly tx_id: string; readonly status: string; readonly updated_at: string }
}

/** Transactions are asked for all the time, so that there is always an older answer to give. */
export function describeReads(stack: () => Stack): void {
  test('a transaction is read as its send was answered, and as its webhooks tell it', async () => {
    const { owner } = stack()
    const { api, keyId } = await issueKey(stack(), { chains: [BASE] })
    const toldTypes = new Set<string>()
    const stale: string[] = []
    const read = (id: string) => api.get(`/api/tx/${id}`)

    async function readAsTold(body: string, response: ServerResponse): Promise<void> {
      const { type, data } = JSON.parse(body) as Told
      const reply = await read(data.tx_id)
      const { updated_at: updatedAt } = reply.json
      if (stepOf(reply) < STATUSES.indexOf(data.status) || String(updatedAt) < data.updated_at) {
        stale.push(`${body} was read as ${reply.text}`)
      }
      toldTypes.add(type)
      response.writeHead(204).end()
    }
    const receiver = await startReceiver((response, index) => {
      void readAsTold(receiver.received[index]?.body ?? '', response)
    })
    const hook = await owner.post('/webhooks', { url: receiver.url, events: EVENTS })
    expect(hook.status, hook.text).toBe(201)

    async function sendAndFollow(): Promise<string> {
      const sent = await api.post('/api/tx/send', {
        chain_id: BASE,
        to: newAddress(),
        value: '1',
      })
      const id = String(sent.json.tx_id)
      let reply = await read(id)
      expect(reply.json.tx_hash, reply.text).toBe(sent.json.tx_hash)
      let step = stepOf(sent)
      for (;;) {
        expect(stepOf(reply), reply.text).toBeGreaterThanOrEqual(step)
        step = stepOf(reply)
        if (reply.json.status === 'confirmed') return id
        await delay(POLL_MS)
        reply = await read(id)
      }
    }
    const [first = ''] = await Promise.all(Array.from({ length: SENDS }, sendAndFollow))
    await vi.waitFor(() => expect(toldTypes).toEqual(new Set(EVENTS)), { timeout: 20_000 })
    expect(stale).toEqual([])
    expect((await owner.call('DELETE', `/webhooks/${hook.json.webhook_id}`)).status).toBe(200)
    await receiver.stop()

    expect((await owner.post(`/keys/${keyId}/revoke`)).status).toBe(200)
    expect(await read(first)).toMatchObject({ status: 401, code: 'INVALID_KEY' })
  })
}

function stepOf({ json }: Reply): number {
  return STATUSES.indexOf(String(json.status))
}
