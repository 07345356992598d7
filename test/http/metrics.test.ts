import { closeSync, openSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { afterEach, expect, test } from 'vitest'
import type { Listener } from '../../src/http/app.js'
import { createHttpMetrics, type HttpMetrics } from '../../src/http/metrics.js'
import { listenForMetrics } from '../../src/http/metrics-listener.js'
import { descriptorsMax, unreservedDescriptors } from '../../src/http/open-files.js'
import { ADAPTER } from './harness.js'

let close = () => {}

function listen(metrics: HttpMetrics): Promise<Listener> {
  return listenForMetrics({
    host: '127.0.0.1',
    port: 0,
    registry: new Registry(),
    expositions: [metrics.render],
    logger: pino({ level: 'silent' }),
    adapter: ADAPTER,
    descriptorsMax: unreservedDescriptors(descriptorsMax()),
  })
}

afterEach(() => close())

test('requests show by operation and status class, with cumulative buckets', async () => {
  const metrics = createHttpMetrics()
  metrics.observe('get_limits', 200, 0.2)
  metrics.observe('get_limits', 200, 3)
  metrics.observe('get_limits', 403, 60_000)
  const listener = await listen(metrics)
  close = listener.close
  const response = await fetch(`http://127.0.0.1:${listener.port}/metrics`)
  const lines = (await response.text()).split('\n')
  const bucket = (status: string, le: string) =>
    `countersign_http_request_duration_seconds_bucket{operation="get_limits",status="${status}",le="${le}"}`
  expect(lines).toContain(`${bucket('2xx', '0.00025')} 1`)
  expect(lines).toContain(`${bucket('2xx', '0.005')} 2`)
  expect(lines).toContain(`${bucket('2xx', '+Inf')} 2`)
  expect(lines).toContain(`${bucket('4xx', '30')} 0`)
  expect(lines).toContain(`${bucket('4xx', '+Inf')} 1`)
  expect(lines).toContain(
    'countersign_http_request_duration_seconds_count{operation="get_limits",status="2xx"} 2',
  )
  expect((await fetch(`http://127.0.0.1:${listener.port}/other`)).status).toBe(404)
})

test('they are served however many files the process has open', async () => {
  const files = Array.from({ length: 300 }, () => openSync('/dev/null', 'r'))
  const listener = await listen(createHttpMetrics())
  close = listener.close
  // Longer than between two looks at what is open.
  for (let i = 0; i < 12; i++) {
    const headers = { connection: 'close' }
    expect((await fetch(`http://127.0.0.1:${listener.port}/metrics`, { headers })).status).toBe(200)
    await delay(10)
  }
  for (const file of files) closeSync(file)
})
