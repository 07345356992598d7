import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { freePort } from '../support/ports.js'
import { type Stack, startStack } from './stack.js'
import { describeApprovals } from './write-path/approvals.js'
import { describeExamples } from './write-path/examples.js'
import { describeIdempotency } from './write-path/idempotency.js'
import { describeKeys } from './write-path/keys.js'
import { describeMetrics } from './write-path/metrics.js'
import { describeParity } from './write-path/parity.js'
import { describePolicies } from './write-path/policies.js'
import { describeReads } from './write-path/reads.js'
import { describeScreening } from './write-path/screening.js'
import { describeSends } from './write-path/sends.js'
import { describeStepLines } from './write-path/step-lines.js'
import { type Collector, describeTraces, startCollector } from './write-path/traces.js'

/** The lifecycle of a send over the whole stack: real chains, real signatures, real deliveries. */
describe('the write path', () => {
  let running: Stack
  let collector: Collector
  let metricsPort: number
  let identityMetricsPort: number
  beforeAll(async () => {
    collector = await startCollector()
    metricsPort = await freePort()
    identityMetricsPort = await freePort()
    running = await startStack({
      COUNTERSIGN_OTEL_ENDPOINT: collector.url,
      METRICS_PORT: String(metricsPort),
      IDENTITY_METRICS_PORT: String(identityMetricsPort),
    })
  })
  afterAll(async () => {
    await running?.service.stop()
    collector?.stop()
  })
  const stack = () => running

  describeSends(stack)
  describeReads(stack)
  describeExamples(stack)
  describeKeys(stack)
  describeIdempotency(stack)
  describePolicies(stack)
  describeApprovals(stack)
  describeScreening(stack)
  describeParity(stack)
  describeStepLines(stack)
  describeTraces(stack, () => collector)
  describeMetrics(stack, () => ({ service: metricsPort, identityProvider: identityMetricsPort }))

  test('how full each queue of each thread is can be seen', async () => {
    const shown = async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
    const workers = new Set((await shown()).match(/(?<=thread=")worker-\d+(?=")/g))
    expect(workers.size).toBeGreaterThan(0)
    const queues = [
      ...[...workers].flatMap((thread) =>
        ['mailbox', 'rpc_reads', 'signing', 'signature_checks', 'outbox'].map(
          (queue) => `queue="${queue}",thread="${thread}"`,
        ),
      ),
      ...['callers', 'walks', 'outbox'].map((queue) => `queue="${queue}",thread="main"`),
    ]
    await vi.waitFor(
      async () => {
        const text = await shown()
        for (const of of queues) {
          expect(text).toContain(`countersign_queue_length{${of}}`)
          expect(text).toContain(`countersign_queue_wait_seconds{${of}}`)
          expect(text).toContain(`countersign_queue_dropped_total{${of}} 0`)
        }
      },
      { timeout: 20_000, interval: 200 },
    )
    // The sends of the tests before went through a batch and between threads.
    const text = await shown()
    for (const queue of ['signing', 'outbox']) {
      const waited = RegExp(
        `countersign_queue_wait_seconds\\{queue="${queue}",thread="worker-\\d+"\\} (\\S+)`,
        'g',
      )
      const seconds = [...text.matchAll(waited)].map(([, value]) => Number(value))
      expect(seconds).toHaveLength(workers.size)
      expect(Math.max(...seconds), queue).toBeGreaterThan(0)
    }
  })

  test('every answer carries the request id of its caller, or one of its own', async () => {
    const api = stack().service.api()
    const named = await api.get('/api/limits', { 'x-request-id': 'order-4711' })
    expect(named.headers.get('x-request-id')).toBe('order-4711')
    const own = await api.get('/api/limits')
    expect(own.headers.get('x-request-id')).toMatch(/^\S{8,}$/)
    const refused = await api.get('/api/nothing', { 'x-request-id': 'order-4712' })
    expect(refused.headers.get('x-request-id')).toBe('order-4712')
    expect(refused.json.error?.request_id).toBe('order-4712')
    const insane = await api.get('/api/limits', { 'x-request-id': 'a b'.repeat(200) })
    expect(insane.headers.get('x-request-id')).not.toContain(' ')
  })
})
