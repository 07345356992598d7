import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { frameReader } from '../../src/console/live/event-frames.js'
import { type FollowPorts, followEvents, type Place } from '../../src/console/live/follow-events.js'
import { isBelow, isToldOf, staleBy } from '../../src/console/live/stale-queries.js'
import { fault } from '../../src/errors/fault.js'
import type { ConsoleContext } from '../../src/operations/context.js'
import { CONSOLE_TOKEN, type Harness, startHarness } from './harness.js'

/** What keeps the pages of the console live, against the service's own event stream. */

const WAIT = { timeout: 30_000, interval: 20 }
const opened: Harness[] = []
const followers: AbortController[] = []
const cables: (() => void)[] = []

afterEach(async () => {
  for (const follower of followers.splice(0)) follower.abort()
  for (const close of cables.splice(0)) close()
  await Promise.all(opened.splice(0).map(({ server }) => server.close()))
})

interface Log {
  length: number
  /** Of the last event that is no longer kept. */
  startsAfter: number
}

/** What is between a browser and the service, to be cut. */
async function startCable(port: number) {
  const ends = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1')
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      ends.add(from)
      from.on('error', () => to.destroy()).on('close', () => to.destroy())
      from.pipe(to)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const cut = () => {
    for (const end of ends) end.destroy()
    ends.clear()
  }
  cables.push(() => {
    cut()
    server.close()
  })
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, cut }
}

async function start(log: Log): Promise<Harness> {
  const listEvents = (_context: ConsoleContext, input: never) => {
    const { after, limit } = input as { readonly after: number; readonly limit: number }
    if (after < log.startsAfter) {
      return { ok: false as const, fault: fault('INVALID_REQUEST', {}, 'no longer kept') }
    }
    const last = Math.min(log.length, after + limit)
    const events = []
    for (let seq = after + 1; seq <= last; seq++) {
      events.push({ seq, event_id: `evt_${seq}`, type: `test.${seq}`, timestamp: '', data: {} })
    }
    const value = { events, next_after: Math.max(after, last), has_more: last < log.length }
    return { ok: true as const, value: { ...value, log_starts_after: log.startsAfter } }
  }
  const harness = await startHarness({
    console: { list_events: listEvents },
    readableSeq: () => log.length,
  })
  opened.push(harness)
  return harness
}

function follow(baseUrl: string, own: Partial<FollowPorts> = {}, place: Place = { after: null }) {
  const seen = { types: [] as string[], states: [] as string[], gaps: 0 }
  const stop = new AbortController()
  followers.push(stop)
  const ports: FollowPorts = {
    url: `${baseUrl}/api/v1/agent/events/stream`,
    token: async () => CONSOLE_TOKEN,
    pause: () => new Promise((resolve) => setTimeout(resolve, 20)),
    random: () => 0,
    onLive: () => seen.states.push('live'),
    onBroken: () => seen.states.push('broken'),
    onGap: () => {
      seen.gaps++
    },
    onEvent: (type) => seen.types.push(type),
    ...own,
  }
  const over = followEvents(ports, place, stop.signal)
  return { seen, over, stop: () => stop.abort() }
}

test('a connection that broke goes on without a gap and without an event twice', async () => {
  const log: Log = { length: 5, startsAfter: 0 }
  const { port } = await start(log)
  const cable = await startCable(port)
  const { seen } = follow(cable.baseUrl)
  await vi.waitFor(() => expect(seen.states).toEqual(['live']), WAIT)
  expect(seen.gaps, 'what came before is read by the pages').toBe(1)
  log.length = 7
  await vi.waitFor(() => expect(seen.types).toEqual(['test.6', 'test.7']), WAIT)
  cable.cut()
  log.length = 9
  const all = ['test.6', 'test.7', 'test.8', 'test.9']
  await vi.waitFor(() => expect(seen.types).toEqual(all), WAIT)
  expect(seen.states).toEqual(['live', 'broken', 'live'])
  expect(seen.gaps).toBe(1)
})

test('a log that no longer has what comes next is followed from here, and pages read again', async () => {
  const log: Log = { length: 9, startsAfter: 8 }
  const harness = await start(log)
  const place: Place = { after: '3' }
  const { seen } = follow(harness.baseUrl, {}, place)
  await vi.waitFor(() => expect(seen.states).toEqual(['broken', 'live']), WAIT)
  expect(seen.gaps).toBe(1)
  await vi.waitFor(() => expect(place.after).toBe('9'), WAIT)
})

test('a token that the service refuses is not used again', async () => {
  const harness = await start({ length: 0, startsAfter: 0 })
  const refused: unknown[] = []
  const { seen } = follow(harness.baseUrl, {
    token: async (of) => {
      refused.push(of)
      return of === undefined ? 'ended' : CONSOLE_TOKEN
    },
  })
  await vi.waitFor(() => expect(seen.states).toEqual(['broken', 'live']), WAIT)
  expect(refused).toEqual([undefined, 'ended'])
})

test('attempts come ever more slowly, at most ten seconds apart, and not in step', async () => {
  const pauses: number[] = []
  const { over, stop } = follow('http://127.0.0.1:1', {
    pause: async (ms) => {
      pauses.push(ms)
      if (pauses.length === 9) stop()
    },
    random: () => (pauses.length === 8 ? 1 : 0),
  })
  await over
  expect(pauses).toEqual([250, 500, 1_000, 2_000, 4_000, 5_000, 5_000, 5_000, 10_000])
})

test('frames are the same however the network cuts them', () => {
  const text =
    ': \n\nid: 1\nevent: a\ndata: {"x":\ndata: 1}\n\n:\n\r\nid: 2\r\nevent: b\r\ndata:c\r\n\r\n'
  const whole = frameReader()(text)
  expect(whole).toEqual([
    { id: '1', event: 'a', data: '{"x":\n1}' },
    { id: '2', event: 'b', data: 'c' },
  ])
  for (let cut = 0; cut <= text.length; cut++) {
    const read = frameReader()
    expect([...read(text.slice(0, cut)), ...read(text.slice(cut))]).toEqual(whole)
  }
  expect(() => frameReader()('x'.repeat(5_000_000))).toThrow(/no end/)
})

test('an event makes stale what it changes, and what is below that; an unknown one everything', () => {
  const stale = staleBy('transaction.confirmed') ?? []
  const isStale = (path: string) => stale.some((one) => isBelow(path, one))
  expect(isStale('/api/v1/agent/transactions')).toBe(true)
  expect(isStale('/api/v1/agent/transactions/:tx_id')).toBe(true)
  expect(isStale('/api/v1/agent/keys')).toBe(false)
  expect(staleBy('something.newer')).toBeNull()
  expect(staleBy('constructor')).toBeNull()
  // Refusals are no events: they go on being asked for.
  expect(isToldOf('/api/v1/agent/refusals')).toBe(false)
})
