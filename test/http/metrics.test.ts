import { pino } from 'pino'
import { Registry } from 'prom-client'
import { afterEach, expect, test } from 'vitest'
import { createHttpMetrics } from '../../src/http/metrics.js'
import { listenForMetrics } from '../../src/http/metrics-listener.js'

let close = () => {}
afterEach(() => close())

test('requests show by operation and status class, with cumulative buckets', async () => {
  const metrics = createHttpMetrics()
  metrics.observe('get_limits', 200, 0.2)
  metrics.observe('get_limits', 200, 3)
  metrics.observe('get_limits', 403, 60_000)
  const listener = await listenForMetrics({
    host: '127.0.0.1',
    port: 0,
    registry: new Registry(),
    metrics,
    logger: pino({ level: 'silent' }),
  })
  close = listener.close
  const response = await fetch(`http://127.0.0.1:${listener.port}/metrics`)
  const lines = (await response.text()).split('\n')
  const bucket = (status: string, le: string) =>
    `http_request_duration_seconds_bucket{operation="get_limits",status="${status}",le="${le}"}`
  expect(lines).toContain(`${bucket('2xx', '0.00025')} 1`)
  expect(lines).toContain(`${bucket('2xx', '0.005')} 2`)
  expect(lines).toContain(`${bucket('2xx', '+Inf')} 2`)
  expect(lines).toContain(`${bucket('4xx', '30')} 0`)
  expect(lines).toContain(`${bucket('4xx', '+Inf')} 1`)
  expect(lines).toContain(
    'http_request_duration_seconds_count{operation="get_limits",status="2xx"} 2',
  )
  expect((await fetch(`http://127.0.0.1:${listener.port}/other`)).status).toBe(404)
})
