/** What a node does with requests while another one owns the journal, over a real link. */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls, createServer } from 'node:tls'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { freePort } from '../../bench/free-port.js'
import { makeAuthority } from '../../scripts/dev/certificates.js'
import { readTlsFiles, type TlsFiles, type TlsPems } from '../../src/config/tls-files.js'
import type { HttpRequest, HttpResponse } from '../../src/http/app.js'
import {
  createForwarder,
  type Forwarder,
  type ForwardTimes,
} from '../../src/http/forward-to-leader.js'
import { createFrontDoor } from '../../src/http/front-door.js'
import type { LeaderPlace } from '../../src/http/leader-place.js'
import { PATIENCE } from '../../src/http/node-http/bounds.js'
import { createAcceptingApp } from '../../src/http/node-http/node-app.js'
import { createApp, usualAdapter } from '../../src/http/uws.js'
import { LinkAgent } from '../../src/link/link-agent.js'
import { type LinkListener, listenOnLink } from '../../src/link/link-listener.js'

const ADAPTERS =
  usualAdapter() === 'node:http' ? (['node'] as const) : (['native', 'node'] as const)
const HOST = '127.0.0.1'
const BOTH = { usage: 'serverAuth,clientAuth', names: 'IP:127.0.0.1' } as const
const SLOW = { timeout: 20_000 }
/** More than there is memory for, of all together. */
const SLOW_UPLOADS = 140

let directory: string
let files: Record<'leader' | 'node' | 'stranger', TlsFiles>
const silent = pino({ level: 'silent' })

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'cs-forward-'))
  const [own, another] = ['own', 'another'].map((name) => makeAuthority(directory, name))
  const of = (authority: typeof own, name: string) => ({
    ...(authority ?? own)?.issue(name, BOTH),
    authority: own?.certificate,
  })
  files = {
    leader: of(own, 'owner') as TlsFiles,
    node: of(own, 'node') as TlsFiles,
    stranger: of(another, 'stranger') as TlsFiles,
  }
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

describe.each(ADAPTERS)('a node that passes requests on, with the adapter %s', (adapter) => {
  let place: LeaderPlace | null
  let forwarder: Forwarder
  let base: { host: string; port: number }
  let listener: LinkListener | null
  let node: { close(): void }
  let agent: LinkAgent
  let seen: Seen[]
  let answer: (response: HttpResponse, one: Seen) => void
  let port: number

  beforeEach(async () => {
    seen = []
    port = await freePort()
    listener = await owns()
    place = { epoch: 1, host: HOST, port }
    ;({ forwarder, base, node, agent } = await nodeWith(() => readTlsFiles(files.node)))
    answer = (response, one) => json(response, '200 OK', one)
  })
  afterEach(async () => {
    node.close()
    agent.destroy()
    await listener?.close()
  })

  /** Who answers what comes by the link. */
  function owns(): Promise<LinkListener> {
    const { app, accept } = createAcceptingApp()
    app.any('/*', (response, incoming) => {
      const one = { ...headOf(incoming), body: '' }
      response.onAborted(() => seen.push({ ...one, body: 'aborted' }))
      response.onData((piece, isLast) => {
        one.body += Buffer.from(piece).toString()
        if (!isLast) return
        seen.push(one)
        response.cork(() => answer(response, one))
      })
    })
    const bounds = {
      ...{ whom: 'nodes', ofOneCertificateMax: 512, placesMax: 512, handshakesMax: 512 },
      silentMsMax: null,
    }
    const listen = { host: HOST, port }
    return listenOnLink({ listen, files: files.leader, ...bounds }, accept, silent)
  }

  /** What the node knows of a call with the Idempotency-Key `known`. */
  const transactionOf = (headers: readonly string[]) =>
    headers[headers.indexOf('idempotency-key') + 1] === 'known' ? 'tx_1' : null

  async function nodeWith(credentials: () => TlsPems, times?: ForwardTimes) {
    const through = new LinkAgent(credentials)
    const made = createForwarder({
      leader: () => place,
      agent: through,
      clientAddress: (peer, given) => (given === '' ? peer : `${peer} not ${given}`),
      report: () => ({ status: 'down', reason: 'follows', standby: true, behind: 0 }),
      log: { warn: () => undefined },
      transactionOf,
      ...(times === undefined ? {} : { times }),
    })
    const door = createFrontDoor(createApp({ adapter }))
    const at = await freePort()
    await door.answerEarly(HOST, at, made.serve)
    const early = await door.open(HOST, at, () => undefined)
    return { forwarder: made, base: { host: HOST, port: at }, node: early, agent: through }
  }

  async function ask(method: string, path: string, options: AskOptions = {}) {
    const { headers = {}, body } = options
    const asked = request({ ...base, method, path, headers, agent: false })
    asked.end(body)
    const [answered] = (await once(asked, 'response')) as [IncomingMessage]
    let text = ''
    for await (const piece of answered) text += String(piece)
    return { status: answered.statusCode, headers: answered.headers, text }
  }
  /** All that is answered until the connection ends. */
  async function said(text: string): Promise<string> {
    const socket = connect(base.port, HOST)
    socket.on('error', () => undefined)
    socket.write(Buffer.from(text))
    let all = ''
    for await (const piece of socket) all += String(piece)
    return all
  }
  const codeOf = (text: string) => JSON.parse(text).error.code

  test('has the owner see what was asked, and the caller what was answered', async () => {
    answer = (response) => {
      response.writeStatus('201 Created')
      response.writeHeader('X-Of-The-Owner', 'yes')
      response.end('made')
    }
    const headers = { 'x-api-key': 'sk', 'idempotency-key': 'once', host: 'wallet.example.com' }
    const made = await ask('POST', '/api/tx/send?a=b%20c', { headers, body: '{"value":"1"}' })
    expect([made.status, made.text]).toEqual([201, 'made'])
    expect(made.headers['x-of-the-owner']).toBe('yes')
    expect(seen).toMatchObject([
      { method: 'post', url: '/api/tx/send?a=b%20c', body: '{"value":"1"}', headers },
    ])
  })

  test('says whom it is of itself, and believes no caller', async () => {
    await ask('GET', '/a')
    await ask('GET', '/a', { headers: { 'x-forwarded-for': '10.1.2.3' } })
    const said = seen.map(({ headers }) => headers['x-forwarded-for'])
    expect(said.map((text) => text?.replace('::ffff:', ''))).toEqual([HOST, `${HOST} not 10.1.2.3`])
  })

  test('passes on a head as long as it takes itself', async () => {
    const long = 'a'.repeat(16 * 1024 - 200)
    const made = await ask('GET', '/a', { headers: { 'x-long': long } })
    expect([made.status, seen[0]?.headers['x-long']]).toEqual([200, long])
  })

  test('answers HEAD and what has no body as the owner does', async () => {
    answer = (response, { method }) => {
      if (method === 'head') {
        response.writeHeader('Content-Length', '7')
        response.endWithoutBody()
        return
      }
      response.writeStatus('204 No Content')
      response.endWithoutBody()
    }
    const head = await ask('HEAD', '/a')
    expect([head.status, head.headers['content-length']]).toEqual([200, '7'])
    expect(await ask('DELETE', '/a')).toMatchObject({ status: 204, text: '' })
  })

  test('takes chunks, and refuses what is too long or ends in two ways', async () => {
    const chunked = { headers: { 'transfer-encoding': 'chunked' }, body: 'in pieces' }
    expect((await ask('POST', '/a', chunked)).status).toBe(200)
    expect(seen[0]?.body).toBe('in pieces')
    const long = await ask('POST', '/a', { body: 'x'.repeat(300 * 1024) })
    expect([long.status, codeOf(long.text)]).toEqual([413, 'PAYLOAD_TOO_LARGE'])
    const refused = await said(
      'POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na',
    )
    expect(refused).toMatch(/^HTTP\/1.1 400 /)
    expect(seen).toHaveLength(1)
  })

  test('sends a body that is empty as one, and none where there is none', async () => {
    await ask('POST', '/a')
    await ask('POST', '/a', { headers: { 'content-length': '0' } })
    await ask('GET', '/a')
    const [bare, empty, read] = seen.map(({ headers }) => headers)
    for (const headers of [bare, empty]) {
      expect(headers?.['content-length']).toBe('0')
      expect(headers?.['transfer-encoding']).toBeUndefined()
    }
    expect(read?.['content-length']).toBeUndefined()
  })

  test.each([
    ['a trailer', 'GET /a HTTP/1.1\r\nHost: a\r\nTrailer: x\r\n\r\n'],
    ['a path beyond Latin-1', 'GET /\u20ac HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['an upgrade', 'GET /a HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n'],
  ])('outlives %s', async (_, text) => {
    await Promise.race([said(text), sleep(2_000)])
    expect((await ask('GET', '/after')).status).toBe(200)
  })

  test('says that nothing was done where its own certificate is of no use, and keeps the last that was', async () => {
    let isBroken = true
    const broken = await nodeWith(() => {
      if (isBroken) throw new Error('the key is being replaced')
      return readTlsFiles(files.node)
    })
    const own = base
    base = broken.base
    const refused = await ask('POST', '/a', { body: '{}' })
    expect([refused.status, codeOf(refused.text)]).toEqual([503, 'WRITES_STOPPED'])
    isBroken = false
    expect((await ask('GET', '/a')).status).toBe(200)
    isBroken = true
    broken.agent.destroy()
    expect((await ask('GET', '/a')).status).toBe(200)
    base = own
    broken.node.close()
    broken.agent.destroy()
  })

  const HIDDEN = 'POST /hidden HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}'
  const CHUNKED = 'Host: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n'
  const TWICE = 'Content-Length: 1\r\nContent-Length: 1\r\n\r\na'

  test.each([
    ['ends in two ways', `POST /a HTTP/1.1\r\nHost: a\r\n${TWICE}`],
    ['brings chunks', `POST /healthz HTTP/1.1\r\n${CHUNKED}`],
    ['brings chunks, and is answered without a body', `DELETE /none HTTP/1.1\r\n${CHUNKED}`],
  ])('serves nothing behind a request that %s', async (_, text) => {
    answer = (response, { url }) => {
      if (url === '/none') response.writeStatus('204 No Content').endWithoutBody()
      else json(response, '200 OK', {})
    }
    await said(text + HIDDEN)
    place = null
    await said(text + HIDDEN)
    expect(seen.map(({ url }) => url)).not.toContain('/hidden')
  })

  test('waits for the rest of an answer for as long as for its beginning', async () => {
    const times = { connectMs: 2_000, probeMs: 1_000, answerMs: 1_000, silentMs: 1_000 }
    const hasty = await nodeWith(() => readTlsFiles(files.node), times)
    const own = base
    base = hasty.base
    answer = (response, { url }) => {
      if (url === '/stream') response.write('data: 1\n\n')
      else {
        response.writeHeader('Content-Length', '10')
        response.write('abc')
      }
    }
    const [wrote, read] = [await ask('POST', '/a'), await ask('GET', '/a')]
    expect([wrote.status, codeOf(wrote.text)]).toEqual([504, 'OUTCOME_UNKNOWN'])
    expect([read.status, codeOf(read.text)]).toEqual([503, 'WRITES_STOPPED'])
    await expect(ask('GET', '/stream')).rejects.toThrow('aborted')
    base = own
    hasty.node.close()
    hasty.agent.destroy()
  })

  test('ends once what it has passed on is answered, and is not ready until then', async () => {
    let finish = (): void => undefined
    answer = (response) => {
      finish = () => response.cork(() => response.end('done'))
    }
    const asked = ask('POST', '/a')
    await expect.poll(() => seen.length, SLOW).toBe(1)
    let isDrained = false
    const drained = forwarder.drain(20_000).then(() => {
      isDrained = true
    })
    const ready = await ask('GET', '/readyz')
    expect([ready.status, JSON.parse(ready.text).draining, isDrained]).toEqual([503, true, false])
    finish()
    expect((await asked).text).toBe('done')
    await drained
  })

  test('passes nothing on of chunks that were too many, though fewer follow', async () => {
    const chunk = (length: number) => `${length.toString(16)}\r\n${'x'.repeat(length)}\r\n`
    const long = chunk(200 * 1024) + chunk(100 * 1024) + chunk(1)
    const refused = await said(
      `POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${long}0\r\n\r\n`,
    )
    expect(refused).toMatch(/^HTTP\/1.1 413 /)
    expect((await ask('GET', '/after')).status).toBe(200)
    expect(seen.map(({ url }) => url)).toEqual(['/after'])
  })

  test('has a burst of requests answered, each by a connection that it makes', async () => {
    const all = await Promise.all(Array.from({ length: 200 }, () => ask('POST', '/a')))
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([200]))
    expect(seen).toHaveLength(200)
  })

  test('streams what comes for as long as it is taken', async () => {
    answer = (response) => {
      response.writeHeader('Content-Type', 'text/event-stream')
      response.write('data: 1\n\n')
    }
    const asked = request({ ...base, path: '/stream', agent: false }).end()
    const [answered] = (await once(asked, 'response')) as [IncomingMessage]
    const [first] = (await once(answered, 'data')) as [Buffer]
    expect(first.toString()).toBe('data: 1\n\n')
    asked.destroy()
    await expect.poll(() => seen.at(-1)?.body, SLOW).toBe('aborted')
  })

  test('says that nothing was done where nobody owns the journal, or the owner is gone', async () => {
    await listener?.close()
    listener = null
    for (const at of [place, null]) {
      place = at
      for (const method of ['GET', 'POST']) {
        const refused = await ask(method, '/a', { body: method === 'POST' ? '{}' : undefined })
        expect([refused.status, codeOf(refused.text)]).toEqual([503, 'WRITES_STOPPED'])
        expect(refused.headers['retry-after']).toBe('1')
      }
    }
    expect(await ask('GET', '/healthz')).toMatchObject({ status: 200 })
  })

  test('says that the outcome of a write is unknown where the owner goes amid it, and of no read', async () => {
    answer = () => undefined
    const asked = ['POST', 'GET'].map((method) => ask(method, '/a'))
    await expect.poll(() => seen.length, SLOW).toBe(2)
    await listener?.close()
    listener = null
    const [wrote, read] = await Promise.all(asked)
    expect([wrote?.status, codeOf(wrote?.text ?? '')]).toEqual([504, 'OUTCOME_UNKNOWN'])
    expect([read?.status, codeOf(read?.text ?? '')]).toEqual([503, 'WRITES_STOPPED'])
  })

  test('says which transaction a call has made, where it knows', async () => {
    answer = () => undefined
    const told = ['known', 'another'].map((key) =>
      ask('POST', '/a', { headers: { 'idempotency-key': key } }),
    )
    await expect.poll(() => seen.length, SLOW).toBe(2)
    await listener?.close()
    listener = null
    const [known, another] = (await Promise.all(told)).map(({ text }) => JSON.parse(text).error)
    expect(known).toMatchObject({ code: 'OUTCOME_UNKNOWN', details: { tx_id: 'tx_1' } })
    expect(another.details).toEqual({ reason: 'standby' })
  })

  test('answers within five seconds where the leader stands still', async () => {
    answer = () => undefined
    const begunMs = performance.now()
    const asked = ['POST', 'GET'].map((method) => ask(method, '/a'))
    const codes = (await Promise.all(asked)).map(({ text }) => codeOf(text))
    expect(codes).toEqual(['OUTCOME_UNKNOWN', 'WRITES_STOPPED'])
    expect(performance.now() - begunMs).toBeLessThan(5_000)
  })

  test('tells a caller that sends a body too slowly, and forwards nothing of it', async () => {
    const head = 'POST /slow HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n'
    const answers = await Promise.all([head, `${head}{`].map(said))
    for (const each of answers) {
      expect(each).toMatch(/^HTTP\/1\.1 408 /)
      expect(each).toContain('REQUEST_TIMEOUT')
    }
    expect(seen.map(({ url }) => url)).not.toContain('/slow')
  }, 20_000)

  test('gathers no answer without an end', async () => {
    answer = (response) => response.cork(() => response.end(Buffer.alloc(65 * 1024 * 1024)))
    const asked = await Promise.all(['POST', 'GET'].map((method) => ask(method, '/a')))
    expect(asked.map(({ text }) => codeOf(text))).toEqual(['OUTCOME_UNKNOWN', 'WRITES_STOPPED'])
  })

  test('ends what is answered by no answer, and passes on no CONNECT', async () => {
    await listener?.close()
    listener = null
    const credentials = readTlsFiles(files.leader)
    const switching = createServer({ key: credentials.key, cert: credentials.cert }, (socket) => {
      socket.on('error', () => undefined)
      const head = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'
      socket.once('data', () => socket.write(head))
    })
    await once(switching.listen(port, HOST), 'listening')
    try {
      const asked = await Promise.all(['POST', 'GET'].map((method) => ask(method, '/a')))
      expect(asked.map(({ text }) => codeOf(text))).toEqual(['OUTCOME_UNKNOWN', 'WRITES_STOPPED'])
      const connecting = await said('CONNECT /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
      expect(connecting).toMatch(/^(HTTP\/1.1 400 |$)/)
    } finally {
      switching.close()
      agent.destroy()
    }
  })

  test('breaks off what a former owner has not answered, and nothing of the new one', async () => {
    answer = () => undefined
    const former = ask('POST', '/former')
    await expect.poll(() => seen.length, SLOW).toBe(1)
    place = { epoch: 2, host: HOST, port }
    let finish = (): void => undefined
    answer = (response) => {
      finish = () => response.cork(() => response.end('here'))
    }
    const next = ask('POST', '/next')
    await expect.poll(() => seen.length, SLOW).toBe(2)
    forwarder.leaderChanged()
    expect(codeOf((await former).text)).toBe('OUTCOME_UNKNOWN')
    finish()
    expect((await next).text).toBe('here')
  })

  test('is let in by nobody but with a certificate of the authority', async () => {
    const strange = await nodeWith(() => readTlsFiles(files.stranger))
    const own = base
    base = strange.base
    const read = await ask('GET', '/a')
    expect([read.status, seen]).toEqual([503, []])
    // By TLS 1.3 a peer hears that it is refused after it has sent something.
    const wrote = await ask('POST', '/a', { body: '{}' })
    expect([wrote.status, seen]).toEqual([504, []])
    base = own
    strange.node.close()
    strange.agent.destroy()
  })

  test('tells nobody but who has a certificate of the authority what it was asked', async () => {
    await listener?.close()
    listener = null
    const heard: Buffer[] = []
    const { cert, key } = readTlsFiles(files.stranger)
    const stranger = createServer({ cert, key }, (socket) => {
      socket.on('data', (bytes) => heard.push(bytes)).on('error', () => undefined)
    }).listen(port, HOST)
    await once(stranger, 'listening')
    const refused = await ask('POST', '/a', { headers: { 'x-api-key': 'sk' }, body: '{}' })
    expect([refused.status, codeOf(refused.text)]).toEqual([503, 'WRITES_STOPPED'])
    expect(heard).toEqual([])
    stranger.close()
  })

  test('is as ready as the owner, and says what it is itself', async () => {
    answer = (response) => {
      response.writeStatus('200 OK')
      response.end('{"status":"ready","draining":false,"parts":{"journal":{"status":"up"}}}')
    }
    const ready = await ask('GET', '/readyz')
    expect(ready.status).toBe(200)
    expect(JSON.parse(ready.text).parts).toMatchObject({
      journal: { status: 'up' },
      node: { status: 'up', standby: true, behind: 0 },
    })
    await listener?.close()
    listener = null
    const alone = await ask('GET', '/readyz')
    expect(alone.status).toBe(503)
    expect(JSON.parse(alone.text).parts).toMatchObject({ journal: { status: 'down' } })
  })

  test.each([
    ['disk', 200],
    ['clock', 200],
    ['lists', 200],
    ['quorum', 200],
    ['store', 200],
    ['journal', 503],
    ['co_signer', 503],
    ['chains', 503],
  ])('beside a leader whose part %s is down it answers /readyz with %i', async (name, status) => {
    const parts = { prices: { status: 'degraded' }, [name]: { status: 'down', reason: 'why' } }
    answer = (response) => {
      response.writeStatus('503 Service Unavailable')
      response.end(JSON.stringify({ status: 'not_ready', draining: false, parts }))
    }
    const ready = await ask('GET', '/readyz')
    const isReady = status === 200
    expect([ready.status, JSON.parse(ready.text)]).toMatchObject([
      status,
      {
        status: isReady ? 'ready' : 'not_ready',
        parts: { [name]: { status: isReady ? 'degraded' : 'down' }, node: { status: 'up' } },
      },
    ])
    // The owner gives the reason to nodes alone.
    expect(ready.text).not.toContain('why')
  })

  test.each([
    '{"error":{"code":"WRITES_STOPPED","message":"It does not serve yet."}}',
    '{"status":"not_ready","draining":false,"parts":null}',
    '{"status":"not_ready","draining":false,"parts":{"disk":null}}',
    '[]',
    'null',
    '7',
    'no JSON',
  ])('beside a leader that answers /readyz with %s it is not ready, and goes on', async (body) => {
    answer = (response) => {
      response.writeStatus('503 Service Unavailable')
      response.end(body)
    }
    for (const _ of [1, 2]) {
      const { status, text } = await ask('GET', '/readyz')
      expect([status, JSON.parse(text).parts]).toMatchObject([503, { journal: { status: 'down' } }])
    }
  })

  test('beside a leader that ends it is not ready, whatever its parts say', async () => {
    answer = (response) => {
      response.writeStatus('503 Service Unavailable')
      response.end('{"status":"not_ready","draining":true,"parts":{"disk":{"status":"down"}}}')
    }
    expect((await ask('GET', '/readyz')).status).toBe(503)
  })

  test('has memory for others than one address that sends much, and slowly', async () => {
    const body = 'x'.repeat(256 * 1024)
    const unended = Array.from({ length: SLOW_UPLOADS }, () => {
      const headers = { 'content-length': body.length, 'x-forwarded-for': 'one' }
      const asked = request({ ...base, method: 'POST', path: '/a', headers, agent: false })
      asked.on('error', () => undefined)
      asked.write(body.slice(1))
      return asked
    })
    const refused = new Promise<number | undefined>((resolve) => {
      for (const asked of unended) asked.once('response', ({ statusCode }) => resolve(statusCode))
    })
    expect(await refused).toBe(503)
    const answered = await ask('POST', '/a', { body })
    expect([answered.status, seen.map((one) => one.body.length)]).toEqual([200, [body.length]])
    for (const asked of unended) asked.destroy()
  }, 20_000)

  test('holds nothing of callers that are gone', async () => {
    answer = () => undefined
    const gone = Array.from({ length: 40 }, () => request({ ...base, path: '/a', agent: false }))
    for (const one of gone) one.on('error', () => undefined).end()
    await expect.poll(() => seen.filter(({ body }) => body === '').length, SLOW).toBe(40)
    for (const one of gone) one.destroy()
    await expect.poll(() => seen.filter(({ body }) => body === 'aborted').length, SLOW).toBe(40)
    await expect.poll(() => Object.values(agent.sockets).flat(), SLOW).toEqual([])
  })
})

test('a node that stands still amid a request is not waited for by the owner', async () => {
  const patience = { ...PATIENCE, headersMs: 1_000, requestMs: 1_000, checkedMs: 100 }
  const { app, accept } = createAcceptingApp(patience)
  app.any('/*', (response) => {
    response.onAborted(() => undefined)
    response.onData(() => undefined)
  })
  const listen = { host: HOST, port: await freePort() }
  const bounds = {
    ...{ whom: 'nodes', ofOneCertificateMax: 4, placesMax: 4, handshakesMax: 4, silentMsMax: null },
  }
  const listener = await listenOnLink({ listen, files: files.leader, ...bounds }, accept, silent)
  const half = 'POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf'
  for (const text of [half, 'POST /a']) {
    const socket = connectTls({ ...listen, ...readTlsFiles(files.node) })
    socket.on('error', () => undefined).write(text)
    socket.resume()
    await once(socket, 'close')
  }
  await listener.close()
})

interface AskOptions {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | undefined
}

function json(response: HttpResponse, status: string, value: unknown): void {
  response.writeStatus(status)
  response.writeHeader('Content-Type', 'application/json')
  response.end(JSON.stringify(value))
}

function headOf(incoming: HttpRequest): Omit<Seen, 'body'> {
  const headers: Record<string, string> = {}
  incoming.forEach((name, value) => {
    headers[name] = value
  })
  const query = incoming.getQuery() ?? ''
  const url = query === '' ? incoming.getUrl() : `${incoming.getUrl()}?${query}`
  return { method: incoming.getMethod().toLowerCase(), url, headers }
}
