import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type SinkStack, startSinkStack } from '../../bench/sink-stack.js'
import { logOf } from '../cluster-faults/followers.js'
import { httpClient } from '../support/http-client.js'
import { startReceiver, status } from '../webhooks/receiver.js'

const TIMEOUT_MS = 180_000
const SLOW = { timeout: 60_000, interval: 100 }
const REPLACED = 3
const ANSWERS_MS = 40

/** A service that ends as its supervisor tells it to, amid deliveries, and the next one on its store. */
describe('webhooks of a service that is replaced', () => {
  let stack: SinkStack
  let receiver: Awaited<ReturnType<typeof startReceiver>>

  beforeAll(async () => {
    // So that each end comes amid deliveries.
    receiver = await startReceiver(
      (...given) => void setTimeout(() => status(200)(...given), ANSWERS_MS),
    )
    stack = await startSinkStack({ wallets: 8, service: 'dist/src/supervisor/main.js' })
  }, TIMEOUT_MS)
  afterAll(async () => {
    await stack?.stop()
    await receiver?.stop()
  })

  test(
    'come in the order of each wallet’s events',
    async () => {
      const headers = { authorization: `Bearer ${stack.consoleToken}` }
      const owner = httpClient(`${stack.baseUrl}/api/v1/agent`, headers)
      const events = ['transaction.broadcast', 'transaction.confirmed']
      const made = await owner.post('/webhooks', { url: receiver.url, events })
      expect(made.status, made.text).toBe(201)
      let isOver = false
      const walletOf = new Map<string, number>()
      const callers = stack.secrets.map(async (secret, wallet) => {
        const api = httpClient(stack.baseUrl, { 'x-api-key': secret })
        while (!isOver) {
          const to = `0x${randomBytes(20).toString('hex')}`
          const body = { chain_id: stack.chainId, to, value: '1' }
          const sent = await api.post('/api/tx/send', body).catch(() => null)
          if (sent?.status === 200) walletOf.set(String(sent.json.tx_id), wallet)
          else await sleep(50)
        }
      })
      for (let count = 0; count < REPLACED; count++) {
        await sleep(1_000)
        await stack.replaceService()
      }
      isOver = true
      await Promise.all(callers)
      const log = await logOf({ console: () => owner }, stack.baseUrl)
      const byId = new Map(log.map((event) => [event.event_id, event]))
      const told = log.filter(({ type }) => events.includes(type))
      const had = () => new Set(receiver.received.map(({ headers: by }) => by['webhook-id'] ?? ''))
      await expect.poll(() => had().size, SLOW).toBeGreaterThanOrEqual(told.length)
      const last = new Map<number, number>()
      const late: string[] = []
      for (const id of had()) {
        const { seq = 0, data } = byId.get(id) ?? {}
        const wallet = walletOf.get(data?.tx_id ?? '')
        if (wallet === undefined) continue
        if (seq < (last.get(wallet) ?? 0)) late.push(`${seq} after ${last.get(wallet)}`)
        last.set(wallet, Math.max(seq, last.get(wallet) ?? 0))
      }
      expect(late).toEqual([])
      expect(told.length).toBeGreaterThan(50)
    },
    TIMEOUT_MS,
  )
})
