import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { Mailbox } from '../../actors/runtime/mailbox.js'
import { Outbox } from '../../actors/runtime/outbox.js'
import { systemTimers } from '../../src/clock/timers.js'
import type { PreparedIntent } from '../../src/service-custody/sign-batch.js'
import { createSignPipeline } from '../../src/service-custody/sign-pipeline.js'
import {
  attachMeter,
  createMeterBuffer,
  readQueues,
  registerMeters,
  showLatencies,
} from '../../src/wiring/meters.js'
import {
  attachPathMeter,
  createPathBuffer,
  readBacklogs,
  readDoubtedEndpoints,
  showPath,
} from '../../src/wiring/path-meter.js'
import { meterRpc } from '../../src/wiring/rpc-meter.js'

test('a queue tells how much waits, how long it waited, and what it turned away', () => {
  let nowMs = 0
  const mailbox = new Mailbox<string>(2, () => nowMs)
  mailbox.offer('first')
  nowMs = 30
  mailbox.offer('second')
  expect(mailbox.offer('third')).toBe(false)
  expect(mailbox.read()).toEqual({ length: 2, waitMs: 0, dropped: 1 })
  nowMs = 50
  mailbox.take()
  expect(mailbox.read()).toEqual({ length: 1, waitMs: 50, dropped: 1 })
  // The second was not followed; the next one is.
  mailbox.put('fourth')
  nowMs = 57
  mailbox.take()
  mailbox.take()
  expect(mailbox.read()).toEqual({ length: 0, waitMs: 7, dropped: 1 })
})

test('an outbox tells what it holds, and how long the first of the last tick waited', () => {
  let nowMs = 0
  let tick = () => {}
  const timers = {
    elapsed: () => nowMs,
    soon(task: () => void) {
      tick = task
    },
  }
  const posted: (readonly string[])[] = []
  const outbox = new Outbox<string>(timers, (items) => posted.push(items))
  outbox.push('first')
  nowMs = 4
  outbox.push('second')
  expect(outbox.read()).toEqual({ length: 2, waitMs: 0, dropped: 0 })
  tick()
  expect(posted).toEqual([['first', 'second']])
  expect(outbox.read()).toEqual({ length: 0, waitMs: 4, dropped: 0 })
})

test('the queue for signatures tells what waits, and whom it found full', async () => {
  const pipeline = createSignPipeline({
    timers: systemTimers(),
    context: () => null,
    onStaleSession() {},
    onFault(error) {
      throw error
    },
  })
  const intent = { payload: new Uint8Array(1) } as PreparedIntent
  const asked = Array.from({ length: 8_193 }, () => pipeline.sign(intent))
  expect(pipeline.read()).toMatchObject({ length: 8_192, dropped: 1 })
  const outcomes = await Promise.all(asked)
  expect(outcomes.every(({ ok }) => !ok)).toBe(true)
  expect(pipeline.read()).toMatchObject({ length: 0, dropped: 1 })
  expect(pipeline.read().waitMs).toBeGreaterThan(0)
  pipeline.sign(intent)
  pipeline.abandon('connection lost')
  expect(pipeline.read()).toMatchObject({ length: 0, dropped: 1 })
})

test('what the queues of every thread read is shown, by queue and thread', async () => {
  const buffer = createMeterBuffer(2)
  const [main, worker] = [attachMeter(buffer, 0), attachMeter(buffer, 1)]
  const registry = new Registry()
  registerMeters(registry, buffer, ['main', 'worker-0'], main.post)
  main.queue('callers', () => ({ length: 3, waitMs: 1_500, dropped: 2 }))
  worker.queue('mailbox', () => ({ length: 7, waitMs: 20, dropped: 0 }))
  const path = attachPathMeter(createPathBuffer(1, [8_453]), 0, [8_453])
  const log = { info() {}, warn() {}, error() {} }
  const rpc = meterRpc(worker, path, log)(8_453)
  rpc.queue('send', () => ({ length: 4, waitMs: 9 }))
  rpc.queue('send', () => ({ length: 1, waitMs: 11 }))
  rpc.overflow('send')
  worker.post()
  const text = await registry.metrics()
  expect(text).toContain('countersign_queue_length{queue="callers",thread="main"} 3')
  expect(text).toContain('countersign_queue_wait_seconds{queue="callers",thread="main"} 1.5')
  expect(text).toContain('countersign_queue_dropped_total{queue="callers",thread="main"} 2')
  expect(text).toContain('countersign_queue_length{queue="mailbox",thread="worker-0"} 7')
  expect(text).toContain('countersign_queue_length{queue="rpc_sends",thread="worker-0"} 5')
  expect(text).toContain(
    'countersign_queue_wait_seconds{queue="rpc_sends",thread="worker-0"} 0.011',
  )
  expect(text).toContain('countersign_queue_dropped_total{queue="rpc_sends",thread="worker-0"} 1')
  expect(text).not.toContain('queue="mailbox",thread="main"')
})

test('a queue of several threads is told of as one: all that waits, and the longest wait', () => {
  const buffer = createMeterBuffer(3)
  const [main, first, second] = [0, 1, 2].map((row) => attachMeter(buffer, row))
  main?.queue('callers', () => ({ length: 3, waitMs: 1_500, dropped: 2 }))
  first?.queue('signing', () => ({ length: 7, waitMs: 20, dropped: 0 }))
  second?.queue('signing', () => ({ length: 5, waitMs: 30, dropped: 1 }))
  for (const meter of [main, first, second]) meter?.post()
  expect(readQueues(buffer)).toEqual([
    { queue: 'callers', length: 3, waitMs: 1_500, dropped: 2 },
    { queue: 'signing', length: 12, waitMs: 30, dropped: 1 },
  ])
})

test('latencies of all threads are one histogram each, in seconds', () => {
  const buffer = createMeterBuffer(3)
  const [, first, second] = [0, 1, 2].map((row) => attachMeter(buffer, row))
  const commit = first?.latency('commit')
  commit?.(0.4)
  commit?.(30)
  second?.latency('commit')(4_000_000)
  const lines = showLatencies(buffer)().split('\n')
  expect(lines).toContain('# TYPE countersign_commit_duration_seconds histogram')
  expect(lines).toContain('countersign_commit_duration_seconds_bucket{le="0.001"} 1')
  expect(lines).toContain('countersign_commit_duration_seconds_bucket{le="0.05"} 2')
  expect(lines).toContain('countersign_commit_duration_seconds_bucket{le="1800"} 2')
  expect(lines).toContain('countersign_commit_duration_seconds_bucket{le="+Inf"} 3')
  expect(lines).toContain('countersign_commit_duration_seconds_sum 4000.0304')
  // Nobody took it down, which is no reason to be absent.
  expect(lines).toContain('countersign_signing_duration_seconds_count 0')
})

test('endpoints in doubt are those of the thread that passes over the most', () => {
  const chainIds = [1, 8_453]
  const buffer = createPathBuffer(2, chainIds)
  const [main, worker] = [0, 1].map((thread) => attachPathMeter(buffer, thread, chainIds))
  const doubted = readDoubtedEndpoints(buffer, chainIds)
  expect(doubted(8_453)).toBe(0)
  main?.rpc(8_453, 'chain-id-doubted')
  worker?.rpc(8_453, 'chain-id-doubted')
  worker?.rpc(8_453, 'chain-id-doubted')
  worker?.rpc(8_453, 'wrong-chain-id')
  expect([doubted(1), doubted(8_453)]).toEqual([0, 2])
  for (const _ of [1, 2]) worker?.rpc(8_453, 'chain-id-right')
  expect(doubted(8_453)).toBe(1)
})

test('what happens to money is added up over the threads, by chain, code and age', () => {
  const chainIds = [1, 8_453]
  const buffer = createPathBuffer(2, chainIds)
  const [main, worker] = [0, 1].map((thread) => attachPathMeter(buffer, thread, chainIds))
  main?.rpc(1, 'rate-limited')
  worker?.rpc(1, 'rate-limited')
  worker?.rpc(8_453, 'breaker-opened')
  worker?.step(8_453, 'signed')
  worker?.refused('LIMIT_EXCEEDED')
  worker?.refused('NOT_A_CODE')
  // Of a chain that is not configured any more: nothing else is counted up for it.
  worker?.step(10, 'signed')
  main?.unconfirmed(1, () => ({ count: 2, oldestAtMs: 4_000, lanes: 1 }))
  worker?.webhooks(() => ({ count: 3, oldestAtMs: 1_000 }))
  main?.post()
  worker?.post()
  const lines = showPath(buffer, chainIds, () => 10_000)().split('\n')
  const shown = [
    'countersign_rpc_requests_total{chain_id="1",outcome="rate_limited"} 2',
    'countersign_rpc_endpoint_events_total{chain_id="8453",event="breaker_opened"} 1',
    'countersign_transactions_total{chain_id="1",state="signed"} 0',
    'countersign_transactions_total{chain_id="8453",state="signed"} 1',
    'countersign_unconfirmed_transactions{chain_id="1"} 2',
    'countersign_oldest_unconfirmed_seconds{chain_id="1"} 6',
    'countersign_oldest_unconfirmed_seconds{chain_id="8453"} 0',
    'countersign_refusals_total{code="LIMIT_EXCEEDED"} 1',
    'countersign_refusals_total{code="INTERNAL"} 1',
    'countersign_webhook_backlog_events 3',
    'countersign_webhook_oldest_seconds 9',
  ]
  expect(lines).toEqual(expect.arrayContaining(shown))
  const { unconfirmed, webhooks } = readBacklogs(buffer, chainIds)
  expect(unconfirmed()).toEqual([
    { chainId: 1, count: 2, oldestAtMs: 4_000, lanes: 1 },
    { chainId: 8_453, count: 0, oldestAtMs: null, lanes: 0 },
  ])
  expect(webhooks()).toEqual({ count: 3, oldestAtMs: 1_000 })
})
