import { connect, type Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import type { App, Listener, Serve } from '../../src/http/app.js'
import { HEADERS_MAX, PATIENCE, PIPELINED_MAX } from '../../src/http/node-http/bounds.js'
import { createNodeApp } from '../../src/http/node-http/node-app.js'

/** What the node:http adapter has of its own; what both have is tested through the front end. */

const NO_BOUND = Number.POSITIVE_INFINITY

let listener: Listener
const sockets: Socket[] = []
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
  listener.close()
})

async function serve(app: App): Promise<void> {
  listener = await app.listen('127.0.0.1', 0)
}

interface Caller {
  readonly socket: Socket
  text(): string
  isClosed(): boolean
}

function call(...pieces: readonly string[]): Caller {
  let text = ''
  let closed = false
  const socket = connect(listener.port, '127.0.0.1').setNoDelay(true)
  sockets.push(socket)
  socket.on('data', (data) => {
    text += data.toString('latin1')
  })
  socket.on('error', () => undefined)
  socket.on('close', () => {
    closed = true
  })
  for (const piece of pieces) socket.write(piece)
  return { socket, text: () => text, isClosed: () => closed }
}

const GET = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`
const answers = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, code]) => code)

describe('routes', () => {
  test('a literal goes before a parameter, a method of its own before any, and a rest is last', async () => {
    const app = createNodeApp({ connectionsMax: NO_BOUND })
    const say =
      (name: string): Serve =>
      (response, request) => {
        response.end(`<${name} ${request.getParameter(0)} ${request.getParameter(1)}>`)
      }
    app.any('/*', say('rest'))
    app.any('/a/b', say('any a b'))
    app.get('/a/:x', say('get a x'))
    app.get('/:x/b', say('get x b'))
    app.get('/a/:x/c/:y', say('get a x c y'))
    app.post('/a/b', say('post a b'))
    app.get('/pages/*', say('pages'))
    await serve(app)
    const paths = ['/a/b', '/a/z', '/z/b', '/a/1/c/2?q=3', '/a/', '/', '//', '/pages/x/y', '/pages']
    const caller = call(paths.map((path) => GET(path)).join(''))
    await expect.poll(() => answers(caller.text()).length).toBe(paths.length)
    expect([...caller.text().matchAll(/<(.*)>/g)].map(([, said]) => said?.trim())).toEqual([
      'get a x b',
      'get a x z',
      'get x b z',
      'get a x c y 1 2',
      'rest',
      'rest',
      'rest',
      'pages',
      'rest',
    ])
    const other = call('DELETE /a/b HTTP/1.1\r\nHost: a\r\n\r\n')
    await expect.poll(other.text).toContain('<any a b')
  })
})

describe('requests on one connection', () => {
  test('are served one after the other, also behind one that takes its time', async () => {
    const app = createNodeApp({ connectionsMax: NO_BOUND })
    const served: string[] = []
    let answer = () => {}
    app.get('/slow', (response) => {
      served.push('slow')
      answer = () => response.end('slow')
    })
    app.get('/fast', (response) => {
      served.push('fast')
      response.end('fast')
    })
    await serve(app)
    const caller = call(GET('/slow') + GET('/fast'), GET('/fast'))
    await expect.poll(() => served).toEqual(['slow'])
    answer()
    await expect.poll(() => answers(caller.text()).length).toBe(3)
    expect(served).toEqual(['slow', 'fast', 'fast'])
    expect(caller.text().indexOf('slow')).toBeLessThan(caller.text().indexOf('fast'))
  })

  test('behind an answer that closes are never served', async () => {
    const app = createNodeApp({ connectionsMax: NO_BOUND })
    let served = 0
    app.any('/*', (response) => {
      served++
      response.end('last', true)
    })
    await serve(app)
    const caller = call(GET('/') + GET('/'), GET('/'))
    await expect.poll(caller.isClosed).toBe(true)
    expect(caller.text()).toContain('Connection: close')
    expect([served, answers(caller.text())]).toEqual([1, ['200']])
  })

  test('of which too many wait end it, and abort the one at work', async () => {
    const app = createNodeApp({ connectionsMax: NO_BOUND })
    let served = 0
    let aborted = 0
    app.any('/*', (response) => {
      served++
      response.onAborted(() => aborted++)
    })
    await serve(app)
    const caller = call(GET('/').repeat(PIPELINED_MAX + 2))
    await expect.poll(caller.isClosed).toBe(true)
    expect([served, aborted, caller.text()]).toEqual([1, 1, ''])
  })

  test('with noise behind them are answered first, then the noise is refused', async () => {
    const app = createNodeApp({ connectionsMax: NO_BOUND })
    const pending: (() => void)[] = []
    let aborted = 0
    app.any('/*', (response) => {
      response.onAborted(() => aborted++)
      pending.push(() => response.end('done'))
    })
    await serve(app)
    const caller = call(`${GET('/')}NOISE\r\n\r\n`)
    await expect.poll(() => pending.length).toBe(1)
    for (const answer of pending) answer()
    await expect.poll(caller.isClosed).toBe(true)
    expect(answers(caller.text())).toEqual(['200', '400'])
    expect(caller.text()).toContain('"code":"INVALID_REQUEST"')
    expect(aborted).toBe(0)
  })
})

describe('a head that is refused', () => {
  test.each([
    ['over 16 KiB in one piece', [GET('/', `X: ${'x'.repeat(17_000)}\r\n`)], '431'],
    [
      'over 16 KiB in many',
      [GET('/').slice(0, -2), ...Array(40).fill(`X: ${'x'.repeat(500)}\r\n`)],
      '431',
    ],
    ['of a long target', [GET(`/${'a'.repeat(20_000)}`)], '431'],
    ['of too many headers', [GET('/', 'A: b\r\n'.repeat(HEADERS_MAX))], '431'],
    ['of HTTP/1.0', ['GET / HTTP/1.0\r\nHost: a\r\n\r\n'], '400'],
    ['without a host', ['GET / HTTP/1.1\r\n\r\n'], '400'],
    ['of two hosts', [GET('/', 'Host: b\r\n')], '400'],
    ['with a folded line', [GET('/', 'A: b\r\n c\r\n')], '400'],
    ['of an unknown method', ['BREW / HTTP/1.1\r\nHost: a\r\n\r\n'], '400'],
  ])(
    '%s gets an answer that says so, and nothing behind it is served',
    async (_what, pieces, code) => {
      const app = createNodeApp({ connectionsMax: NO_BOUND })
      let served = 0
      app.any('/*', (response) => {
        served++
        response.end('served')
      })
      await serve(app)
      const caller = call(...pieces, GET('/inner'))
      await expect.poll(caller.isClosed).toBe(true)
      expect(answers(caller.text())).toEqual([code])
      const [, body = ''] = caller.text().split('\r\n\r\n')
      const { error } = JSON.parse(body)
      expect(error.code).toBe(code === '431' ? 'HEADERS_TOO_LARGE' : 'INVALID_REQUEST')
      expect(caller.text()).toContain(`X-Request-Id: ${error.request_id}`)
      expect(served).toBe(0)
    },
  )

  test('is not one of 99 headers, nor one over 4 KiB that comes in many pieces', async () => {
    const app = createNodeApp({ connectionsMax: NO_BOUND })
    app.any('/*', (response, request) => {
      let headers = 0
      request.forEach(() => {
        headers++
      })
      response.end(`<${headers}>`)
    })
    await serve(app)
    const many = call(GET('/', 'A: b\r\n'.repeat(HEADERS_MAX - 1)))
    const long = call(GET('/').slice(0, -2), ...Array(20).fill(`X: ${'x'.repeat(500)}\r\n`), '\r\n')
    await expect.poll(many.text).toContain(`<${HEADERS_MAX}>`)
    await expect.poll(long.text).toContain('<21>')
  })
})

describe('an answer', () => {
  test('cannot be given a header with a line break in it', async () => {
    const app = createNodeApp({ connectionsMax: NO_BOUND })
    app.any('/*', (response) => {
      const other = () => response.writeHeader('A', 'b\r\nSet-Cookie: c').end('')
      expect(other).toThrow(/Invalid character/)
      response.close()
    })
    await serve(app)
    const caller = call(GET('/'))
    await expect.poll(caller.isClosed).toBe(true)
    expect(caller.text()).toBe('')
  })

  test('that streams and is not taken is cut off, and told so', async () => {
    const app = createNodeApp({ connectionsMax: NO_BOUND })
    let aborted = false
    app.any('/*', (response) => {
      response.onAborted(() => {
        aborted = true
      })
      const more = () => {
        if (aborted) return
        response.write('x'.repeat(65_536))
        setImmediate(more)
      }
      more()
    })
    await serve(app)
    const caller = call(GET('/'))
    caller.socket.pause()
    await expect.poll(() => aborted).toBe(true)
  })
})

describe('a connection', () => {
  const IMPATIENT = { ...PATIENCE, headersMs: 100, requestMs: 200, checkedMs: 20 }

  test.each([
    ['says nothing', ''],
    ['stops within its headers', 'GET / HTTP/1.1\r\nHo'],
    ['stops within its body', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx'],
  ])('that %s is closed', async (_what, text) => {
    const app = createNodeApp({ connectionsMax: NO_BOUND, patience: IMPATIENT })
    let served = 0
    let aborted = 0
    app.any('/*', (response) => {
      served++
      response.onAborted(() => aborted++)
      response.onData(() => undefined)
    })
    await serve(app)
    const caller = call(text)
    await expect.poll(caller.isClosed).toBe(true)
    expect(aborted).toBe(served)
  })

  test('that waits for its answer is not, but one without another request is', async () => {
    const patience = { ...PATIENCE, keepAliveMs: 100, stalledMs: 50 }
    const app = createNodeApp({ connectionsMax: NO_BOUND, patience })
    let served = 0
    app.any('/*', (response) => {
      served++
      setTimeout(() => response.end('late'), 200)
    })
    await serve(app)
    let caller = call(GET('/'))
    await expect
      .poll(() => {
        // Where this process paused before it read the request, nothing waited for an answer yet.
        if (served === 0 && caller.isClosed()) caller = call(GET('/'))
        return caller.text()
      })
      .toContain('late')
    expect(served).toBe(1)
    await expect.poll(caller.isClosed).toBe(true)
  })

  test('past the maximum is closed as it comes, and the others go on', async () => {
    const app = createNodeApp({ connectionsMax: 2 })
    app.any('/*', (response) => response.end('ok'))
    await serve(app)
    const [first, second] = [call(GET('/')), call(GET('/'))]
    await expect.poll(() => first.text() + second.text()).toMatch(/ok[\s\S]*ok/)
    const third = call(GET('/'))
    await expect.poll(third.isClosed).toBe(true)
    expect(third.text()).toBe('')
    first.socket.write(GET('/'))
    await expect.poll(() => answers(first.text()).length).toBe(2)
  })
})
