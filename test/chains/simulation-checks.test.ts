import { Registry } from 'prom-client'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { connectChains } from '../../src/chains/access.js'
import { FAILURES_TO_OPEN } from '../../src/chains/rpc/breaker.js'
import { startSimulationChecks } from '../../src/chains/simulation-checks.js'
import type { Address } from '../../src/domain/ids.js'
import { type Anvil, startAnvil } from '../support/anvil.js'
import { chainConfig } from '../support/chain-config.js'
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.js'

const SIMULATIONS = ['eth_simulateV1', 'debug_traceCall'] as const
const someone: Address = '0x00000000000000000000000000000000000aBcDe'

let anvil: Anvil
let first: FaultProxy
let second: FaultProxy

beforeAll(async () => {
  anvil = await startAnvil({ chainId: 8453 })
  first = await startFaultProxy({ upstream: anvil.url })
  second = await startFaultProxy({ upstream: anvil.url })
})
afterAll(async () => {
  await first?.close()
  await second?.close()
  await anvil?.stop()
})
afterEach(() => {
  first.clear()
  second.clear()
})

function without(proxy: FaultProxy, method: string): void {
  proxy.inject({ method, fault: { kind: 'error', code: -32601, message: 'no such method' } })
}

function started(everyMs: number) {
  const { chains, close } = connectChains([
    chainConfig(8453, { rpc_urls: [first.url, second.url] }),
  ])
  const chain = chains.get(8453)
  if (chain === undefined) throw new Error('the chain is configured')
  const registry = new Registry()
  const lines: string[] = []
  const note = (context: object, message: string) =>
    void lines.push(`${message} ${JSON.stringify(context)}`)
  const checks = startSimulationChecks(
    chains,
    { registry, log: { info: note, warn: note } },
    everyMs,
  )
  const simulate = () =>
    chain.simulator.simulate({ from: someone, to: someone, data: '0x', value: 0n })
  return {
    ...{ chain, registry, lines, simulate },
    list: () => chain.simulator.abilities.list(),
    async close() {
      checks.close()
      await close()
    },
  }
}

function simulationsOf(proxy: FaultProxy): number {
  return proxy.seen.filter((method) => SIMULATIONS.some((name) => name === method)).length
}

test('every endpoint is probed from the start, and what it can do is reported', async () => {
  without(first, 'eth_simulateV1')
  without(first, 'debug_traceCall')
  without(second, 'eth_simulateV1')
  const { list, registry, lines, simulate, close } = started(60_000)
  await vi.waitFor(() => expect(lines).toHaveLength(1), { timeout: 20_000 })
  expect(list().map(({ methods }) => methods)).toEqual([[], ['debug_traceCall']])
  const metrics = await registry.metrics()
  expect(metrics).toContain('endpoint="0:127.0.0.1",method="debug_traceCall"} 0')
  expect(metrics).toContain('endpoint="1:127.0.0.1",method="debug_traceCall"} 1')
  expect(lines[0]).toContain('how the endpoints of a chain simulate')

  const before = simulationsOf(first)
  expect(await simulate()).toMatchObject({ success: true })
  expect(simulationsOf(first)).toBe(before)
  await close()
})

test('an endpoint that fails over is never trusted with what it was not seen to do right', async () => {
  without(second, 'eth_simulateV1')
  without(second, 'debug_traceCall')
  const { chain, lines, simulate, close } = started(60_000)
  await vi.waitFor(() => expect(lines).toHaveLength(1), { timeout: 20_000 })
  second.clear()
  const before = simulationsOf(second)
  first.inject({ fault: { kind: 'http', status: 503 } })
  await expect(simulate()).rejects.toMatchObject({ fault: { code: 'CHAIN_UNAVAILABLE' } })
  expect(simulationsOf(second)).toBe(before)
  expect(chain.rpc.healthyEndpoints()).toBeGreaterThan(0)
  await close()
})

test('an endpoint that comes back is probed again', async () => {
  const { chain, list, lines, close } = started(50)
  await vi.waitFor(() => expect(lines).toHaveLength(1), { timeout: 20_000 })
  expect(list()[0]?.methods).toEqual(SIMULATIONS)

  first.inject({ fault: { kind: 'http', status: 503 } })
  for (let i = 0; i < FAILURES_TO_OPEN; i++) await chain.rpc.request('eth_blockNumber', [])
  await vi.waitFor(() => expect(list()[0]?.methods).toBeNull(), { timeout: 20_000 })

  first.clear()
  without(first, 'eth_simulateV1')
  await vi.waitFor(() => expect(list()[0]?.methods).toEqual(['debug_traceCall']), {
    timeout: 20_000,
  })
  expect(lines.length).toBeGreaterThan(1)
  await close()
})
