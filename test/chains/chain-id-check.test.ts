import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createChainIdCheck } from '../../src/chains/rpc/chain-id-check.js'
import { createRpcClient } from '../../src/chains/rpc/client.js'
import { PROCESS_TIMERS } from '../../src/chains/rpc/process-timers.js'
import { NO_METRICS } from '../../src/chains/rpc/types.js'

const CHAIN_ID = 8453
const RIGHT = '0x2105'

describe('an endpoint that names another chain id', () => {
  test.each(['0x0', '0x', '', '0xzz', 'null', {}, '0x1', '0xa', '0x2106', -8453, 1.5])(
    'once, as %j, is asked again and used again',
    async (odd) => {
      let nowMs = 0
      const answers: unknown[] = [odd]
      const news: string[] = []
      const client = createRpcClient({
        chainId: CHAIN_ID,
        endpoints: ['http://node'],
        timers: { ...PROCESS_TIMERS, now: () => nowMs },
        metrics: { ...NO_METRICS, chainId: (_label, said) => void news.push(said) },
        transportTo: () => ({
          async post(body) {
            const { id, method } = JSON.parse(body)
            const result = method === 'eth_chainId' ? (answers.shift() ?? RIGHT) : '0x7'
            const text = JSON.stringify({ jsonrpc: '2.0', id, result })
            return { status: 200, retryAfter: undefined, text }
          },
          close: () => Promise.resolve(),
        }),
      })
      const read = () => client.request('eth_blockNumber', []).catch(() => null)
      expect(await read()).toBeNull()
      expect(await read()).toBeNull()
      expect(client.healthyEndpoints()).toBe(0)
      nowMs = 1_000
      expect(await read()).toBe('0x7')
      expect(client.healthyEndpoints()).toBe(1)
      expect(news).toEqual(['doubted', 'right'])
      await client.close()
    },
  )

  test('is on the wrong chain once it names a real one twice, and still comes back', () => {
    const check = createChainIdCheck(CHAIN_ID)
    expect(check.hear('0x1', 0)).toBe('doubted')
    expect(check.hear('0x0', 5_000)).toBe('same')
    expect(check.hear('0x1', 10_000)).toBe('wrong')
    expect(check.hear('0x1', 20_000)).toBe('same')
    expect(check.hear(RIGHT, 90_000)).toBe('right')
    expect(check.hear(RIGHT, 90_000)).toBe('same')
    expect(check.isResting(90_000)).toBe(false)
  })

  test('is never on the wrong chain by ids that no chain has', () => {
    const check = createChainIdCheck(CHAIN_ID)
    const said = ['0x0', '0x', '', '0x0', null].map((odd, at) => check.hear(odd, at * 5_000))
    expect(said).toEqual(['doubted', 'same', 'same', 'same', 'same'])
  })

  test('rests for longer each time, and for a minute at most', () => {
    const odd = fc.constantFrom('0x0', '0x', '0x1', '0xa', 'x')
    fc.assert(
      fc.property(fc.array(odd, { minLength: 1, maxLength: 20 }), (answers) => {
        const check = createChainIdCheck(CHAIN_ID)
        let nowMs = 0
        let beforeMs = 0
        for (const answer of answers) {
          check.hear(answer, nowMs)
          const fromMs = nowMs
          while (check.isResting(nowMs)) nowMs += 500
          expect(nowMs - fromMs).toBeGreaterThanOrEqual(beforeMs)
          expect(nowMs - fromMs).toBeLessThanOrEqual(60_000)
          beforeMs = nowMs - fromMs
        }
        expect(check.hear(RIGHT, nowMs)).toBe('right')
      }),
    )
  })
})
