import { expect, test } from 'vitest'
import { createRpcClient } from '../../src/chains/rpc/client.js'
import { RpcTransportError } from '../../src/chains/rpc/errors.js'
import type { RpcClient } from '../../src/chains/rpc/types.js'
import { sleep } from '../../src/clock/timers.js'
import { VirtualTimers } from '../support/virtual-timers.js'

/** How long a client waits for whom, by a clock of its own: no machine is too slow for it. */

const TIMEOUT_MS = 3_000

interface Patient {
  readonly client: RpcClient
  readonly timers: VirtualTimers
  /** Milliseconds until an endpoint answers; null: it never does. */
  readonly answersAfterMs: Map<string, number | null>
  /** Whom was asked something, in order. */
  readonly asked: string[]
}

function patient(...names: readonly string[]): Patient {
  const timers = new VirtualTimers(1_000)
  const answersAfterMs = new Map<string, number | null>(names.map((name) => [name, 100]))
  const asked: string[] = []
  const client = createRpcClient({
    chainId: 8453,
    endpoints: names.map((name) => `http://${name}/`),
    timeoutMs: TIMEOUT_MS,
    timers,
    transportTo(url) {
      const name = new URL(url).hostname
      return {
        async post(body) {
          asked.push(name)
          const afterMs = answersAfterMs.get(name) ?? null
          await sleep(timers, afterMs ?? TIMEOUT_MS)
          if (afterMs === null) throw new RpcTransportError('unanswered', 'timed out')
          const { id } = JSON.parse(body)
          const text = JSON.stringify({ jsonrpc: '2.0', id, result: '0x2105' })
          return { status: 200, retryAfter: undefined, text }
        },
        close: async () => undefined,
      }
    },
  })
  return { client, timers, answersAfterMs, asked }
}

/** Lets time pass until it is done. @returns with how long that took */
async function timed<T>(timers: VirtualTimers, work: Promise<T>): Promise<readonly [T, number]> {
  const startedMs = timers.now()
  let isOver = false
  const over = work.finally(() => {
    isOver = true
  })
  while (!isOver) await timers.pass(1)
  return [await over, timers.now() - startedMs]
}

test('a slow endpoint is hedged by the second after its usual answer time, and not before', async () => {
  const { client, timers, answersAfterMs, asked } = patient('first', 'second')
  const ask = () => timed(timers, client.request('eth_chainId', []))
  for (let i = 0; i < 60; i++) await ask()
  expect(client.healthyEndpoints()).toBe(2)
  answersAfterMs.set('first', null)
  asked.length = 0
  const answer = client.request('eth_chainId', [])
  await timers.pass(99)
  expect(asked).toEqual(['first'])
  const [result, tookMs] = await timed(timers, answer)
  expect([result, asked]).toEqual(['0x2105', ['first', 'second']])
  // Both take 100 ms, always.
  expect(99 + tookMs).toBeLessThan(210)
})

test('time-outs of several endpoints do not add up', async () => {
  const names = ['first', 'second', 'third', 'fourth']
  const { client, timers, answersAfterMs } = patient(...names)
  await timed(timers, client.request('eth_chainId', []))
  for (const name of names) answersAfterMs.set(name, null)
  const raw = `0x${'02'.repeat(100)}` as const
  const [outcomes, tookMs] = await timed(
    timers,
    Promise.all([
      client.batch([{ method: 'eth_chainId', params: [] }]),
      client.sendRawTransaction(raw),
    ]),
  )
  const [[read], sent] = outcomes
  expect([read?.ok, sent.kind]).toEqual([false, 'indeterminate'])
  expect(tookMs).toBeLessThanOrEqual(3 * TIMEOUT_MS)
})
