import { connect } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { STREAMS_PER_USER_MAX } from '../../src/http/event-stream.js'
import type { ConsoleContext } from '../../src/operations/context.js'
import { CONSOLE_TOKEN, type Harness, type HarnessOptions, startHarness } from './harness.js'

const PATH = '/api/v1/agent/events/stream'
const AUTHORIZATION = { authorization: `Bearer ${CONSOLE_TOKEN}` }
const WAIT = { timeout: 30_000, interval: 20 }

interface Log {
  /** How many events there are. */
  length: number
  /** Of each event's data, characters. */
  dataChars: number
  pages: number
}

const opened: Harness[] = []
const readers: AbortController[] = []

afterEach(async () => {
  for (const reader of readers.splice(0)) reader.abort()
  await Promise.all(opened.splice(0).map(({ server }) => server.close()))
})

async function start(log: Log, options: HarnessOptions = {}): Promise<Harness> {
  const listEvents = (_context: ConsoleContext, input: never) => {
    const { after, limit } = input as { readonly after: number; readonly limit: number }
    log.pages++
    const last = Math.min(log.length, after + limit)
    const events = []
    for (let seq = after + 1; seq <= last; seq++) {
      const data = { text: 'x'.repeat(log.dataChars) }
      events.push({ seq, event_id: `evt_${seq}`, type: 'webhook.test', timestamp: '', data })
    }
    const next_after = Math.max(after, last)
    const has_more = last < log.length
    return { ok: true as const, value: { events, next_after, has_more, log_starts_after: 0 } }
  }
  const harness = await startHarness({
    ...options,
    console: { list_events: listEvents },
    readableSeq: () => log.length,
  })
  opened.push(harness)
  return harness
}

/** Follows a stream, and gathers what came. */
async function follow({ baseUrl }: Harness, headers: Record<string, string> = {}, query = '') {
  const stop = new AbortController()
  readers.push(stop)
  const response = await fetch(`${baseUrl}${PATH}${query}`, {
    headers: { ...AUTHORIZATION, ...headers },
    signal: stop.signal,
  })
  const got = { text: '', isOver: false }
  const decoder = new TextDecoder()
  const read = async () => {
    const body = response.body?.getReader()
    for (;;) {
      const piece = await body?.read()
      if (piece === undefined || piece.done) return
      got.text += decoder.decode(piece.value, { stream: true })
    }
  }
  const over = read()
    .catch(() => undefined)
    .then(() => {
      got.isOver = true
    })
  const seqs = () =>
    [...got.text.matchAll(/^id: (\d+)\nevent: webhook.test$/gm)].map(([, n]) => Number(n))
  return { response, got, seqs, over, stop: () => stop.abort() }
}

function upTo(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, n) => first + n)
}

test('a stream gives what comes, and one resumed by Last-Event-ID misses nothing and repeats nothing', async () => {
  const log: Log = { length: 5, dataChars: 1, pages: 0 }
  const harness = await start(log)
  const first = await follow(harness)
  expect(first.response.headers.get('content-type')).toBe('text/event-stream')
  await vi.waitFor(() => expect(first.got.text).toContain('id: 5\nevent: stream.opened\n'), WAIT)
  log.length = 300
  await vi.waitFor(() => expect(first.seqs()).toEqual(upTo(6, 300)), WAIT)
  first.stop()
  log.length = 310
  const second = await follow(harness, { 'last-event-id': '300' }, '?after=2')
  await vi.waitFor(() => expect(second.seqs()).toEqual(upTo(301, 310)), WAIT)
  const all = await follow(harness, {}, '?after=0')
  await vi.waitFor(() => expect(all.seqs()).toEqual(upTo(1, 310)), WAIT)
})

test('a stream needs a console token, and ends with it', async () => {
  const log: Log = { length: 0, dataChars: 1, pages: 0 }
  let expiresAtMs = Number.POSITIVE_INFINITY
  const harness = await start(log, { tokenExpiresAtMs: () => expiresAtMs })
  expect((await fetch(`${harness.baseUrl}${PATH}`)).status).toBe(401)
  expiresAtMs = Date.now() + 300
  const stream = await follow(harness)
  await stream.over
  expect(stream.got.text).toContain('event: stream.closed\ndata: {"reason":"token_ended"}')
})

test('a stream ends soon after its person is no member any more', async () => {
  const log: Log = { length: 0, dataChars: 1, pages: 0 }
  let isMember = true
  const harness = await start(log, { consoleMember: () => isMember })
  const stream = await follow(harness)
  await vi.waitFor(() => expect(stream.got.text).toContain('stream.opened'), WAIT)
  isMember = false
  await stream.over
  expect(stream.got.text).toContain('event: stream.closed\ndata: {"reason":"token_ended"}')
})

test('a server that shuts down ends its streams, and waits for none', async () => {
  const harness = await start({ length: 0, dataChars: 1, pages: 0 }, { drainTimeoutMs: 20_000 })
  const stream = await follow(harness)
  await vi.waitFor(() => expect(stream.got.text).toContain('stream.opened'), WAIT)
  expect(await harness.server.close()).toBe(0)
  await stream.over
  expect(stream.got.text).toContain('{"reason":"shutting_down"}')
})

test('a user has a bounded number of streams, and a place again once one is gone', async () => {
  const harness = await start({ length: 0, dataChars: 1, pages: 0 })
  const streams = await Promise.all(
    Array.from({ length: STREAMS_PER_USER_MAX }, () => follow(harness)),
  )
  for (const { response } of streams) expect(response.status).toBe(200)
  const refused = await follow(harness)
  expect(refused.response.status).toBe(503)
  streams[0]?.stop()
  await vi.waitFor(async () => {
    const again = await follow(harness)
    expect(again.response.status).toBe(200)
  }, WAIT)
})

test('the log is not read on for whoever does not read', async () => {
  const log: Log = { length: 20_000, dataChars: 10_000, pages: 0 }
  const harness = await start(log)
  const socket = connect(harness.port, '127.0.0.1')
  socket.pause()
  const lines = [
    `GET ${PATH}?after=0 HTTP/1.1`,
    'Host: x',
    `Authorization: Bearer ${CONSOLE_TOKEN}`,
  ]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  let before = -1
  await vi.waitFor(
    () => {
      const isStill = log.pages > 1 && log.pages === before
      before = log.pages
      expect(isStill).toBe(true)
    },
    { timeout: 30_000, interval: 1_000 },
  )
  // A page is 250 kB, and there are 800; what is read is in the buffers of two sockets.
  expect(log.pages).toBeLessThan(200)
  socket.destroy()
  await vi.waitFor(() => expect(harness.server.inFlight).toBe(0), WAIT)
})
