import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { listsStatus } from '../../src/screening/lists/inspect-lists.js'
import { updateLists } from '../../src/screening/lists/update-lists.js'
import { LISTED } from './fixtures.js'
import { advanced } from './list-samples.js'
import { recordingLog } from './recording-log.js'

const LIST = advanced([{ name: 'ONE', accounts: [['ETH', LISTED]] }])

let home: string
let storeDirectory: string
let server: Server | null = null

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'update-'))
  storeDirectory = join(home, 'lists')
})
afterEach(async () => {
  server?.closeAllConnections()
  server?.close()
  await rm(home, { recursive: true, force: true })
})

async function serve(listener: RequestListener): Promise<string> {
  const started = createServer(listener)
  server = started
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(started.address() as AddressInfo).port}/SDN_ADVANCED.XML`
}

const update = (url: string, nowMs = Date.now()) =>
  updateLists({ storeDirectory, protectedAddresses: [], nowMs: () => nowMs }, [
    { source: 'ofac-sdn', url },
  ])

const status = () =>
  listsStatus({
    mode: 'live',
    textListsDirectory: join(home, 'none'),
    storeDirectory,
    protectedAddresses: [],
    log: recordingLog(),
  })

describe('an update', () => {
  it('follows redirects, imports the list, and leaves no download behind', async () => {
    const url = await serve((request, response) => {
      if (request.url === '/SDN_ADVANCED.XML') response.writeHead(302, { location: '/blob' }).end()
      else response.writeHead(200).end(LIST)
    })
    expect(await update(url)).toMatchObject([{ outcome: 'updated', report: { added: 1 } }])
    expect(await readdir(storeDirectory)).toEqual(['ofac-sdn.list'])
    expect(await status()).toMatchObject({ ready: true })
  })

  it('goes through the proxy that the environment names', async () => {
    const url = await serve((_request, response) => response.writeHead(200).end(LIST))
    const tunnelled: (string | undefined)[] = []
    const proxy = createServer()
    proxy.on('connect', (request, client) => {
      tunnelled.push(request.url)
      const { hostname, port } = new URL(`http://${request.url}`)
      const upstream = connect(Number(port), hostname, () => {
        client.write('HTTP/1.1 200 Connection established\r\n\r\n')
        upstream.pipe(client).pipe(upstream)
      })
      for (const socket of [upstream, client]) {
        socket.on('error', () => {
          upstream.destroy()
          client.destroy()
        })
      }
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    vi.stubEnv('HTTP_PROXY', `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`)
    vi.stubEnv('http_proxy', undefined)
    vi.stubEnv('NO_PROXY', undefined)
    vi.stubEnv('no_proxy', undefined)
    try {
      expect(await update(url)).toMatchObject([{ outcome: 'updated', report: { added: 1 } }])
      expect(tunnelled).toEqual([new URL(url).host])
    } finally {
      vi.unstubAllEnvs()
      proxy.closeAllConnections()
      proxy.close()
    }
  })

  it('renews the age of a list that has not changed', async () => {
    const asked: (string | undefined)[] = []
    const url = await serve((request, response) => {
      asked.push(request.headers['if-none-match'])
      if (request.headers['if-none-match'] === '"v1"') response.writeHead(304).end()
      else response.writeHead(200, { etag: '"v1"' }).end(LIST)
    })
    await update(url, Date.now() - 8 * 86_400_000)
    expect((await status()).lists[0]).toMatchObject({ stale: true })
    expect(await update(url)).toEqual([{ outcome: 'unchanged', url }])
    expect(asked).toEqual([undefined, '"v1"'])
    expect((await status()).lists[0]).toMatchObject({ stale: false, entries: 1 })
  })

  it.each<[string, RequestListener]>([
    ['answers 503', (_request, response) => response.writeHead(503).end('busy')],
    ['breaks off', (_request, response) => response.writeHead(200).end(LIST.slice(0, -80))],
    [
      'hangs up',
      (_request, response) =>
        response.writeHead(200, { 'content-length': '99999' }).write(LIST) && response.destroy(),
    ],
    [
      'redirects without end',
      (_request, response) => response.writeHead(302, { location: '/' }).end(),
    ],
  ])('from a publisher that %s keeps the earlier list', async (_name, broken) => {
    let listener: RequestListener = (_request, response) => response.writeHead(200).end(LIST)
    const url = await serve((request, response) => listener(request, response))
    await update(url)
    listener = broken
    expect(await update(url)).toMatchObject([{ outcome: 'failed' }])
    expect(await readdir(storeDirectory)).toEqual(['ofac-sdn.list'])
    expect((await status()).lists[0]).toMatchObject({ entries: 1 })
  })
})

describe('an update over TLS', () => {
  let directory: string
  let credentials: { key: Buffer; cert: Buffer }
  let secure: SecureServer
  let plain: Server
  /** Requests that reached the unprotected address. */
  let asked: string[]

  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'countersign-tls-'))
    const [keyPath, certPath] = [join(directory, 'key.pem'), join(directory, 'cert.pem')]
    execFileSync(
      'openssl',
      // biome-ignore format: one option and its value per line would bury the command
      ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2',
        '-subj', '/CN=127.0.0.1', '-keyout', keyPath, '-out', certPath],
      { stdio: 'ignore' },
    )
    credentials = { key: readFileSync(keyPath), cert: readFileSync(certPath) }
  })
  afterAll(() => rmSync(directory, { recursive: true }))

  /** A publisher that sends whoever asks for its list to `location`, whose two servers both have it. */
  async function publisher(location: (plainUrl: string) => string, statusCode: number) {
    asked = []
    plain = createServer((request, response) => {
      asked.push(request.url ?? '')
      response.writeHead(200).end(LIST)
    })
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve))
    const plainUrl = `http://127.0.0.1:${(plain.address() as AddressInfo).port}/blob`
    secure = createSecureServer(credentials, (request, response) => {
      if (request.url === '/list') {
        response.writeHead(statusCode, { location: location(plainUrl) }).end()
      } else response.writeHead(200).end(LIST)
    })
    await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve))
    return `https://127.0.0.1:${(secure.address() as AddressInfo).port}/list`
  }

  beforeEach(() => vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0'))
  afterEach(() => {
    vi.unstubAllEnvs()
    for (const one of [secure, plain]) {
      one.closeAllConnections()
      one.close()
    }
  })

  /** A publisher that redirects to the same server by another name, `localhost`. */
  async function redirectingTo(path: string) {
    const paths: (string | undefined)[] = []
    plain = createServer()
    secure = createSecureServer(credentials, (request, response) => {
      paths.push(`${request.headers.host?.split(':')[0]}${request.url}`)
      const { port } = secure.address() as AddressInfo
      if (request.url === '/list') {
        response.writeHead(302, { location: `https://localhost:${port}${path}` }).end()
      } else response.writeHead(200).end(LIST)
    })
    await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve))
    const { port } = secure.address() as AddressInfo
    return { paths, port, url: `https://127.0.0.1:${port}/list` }
  }

  const updateFrom = (url: string, redirectHosts: readonly string[]) =>
    updateLists({ storeDirectory, protectedAddresses: [] }, [
      { source: 'ofac-sdn', url, redirectHosts },
    ])

  it('asks no other host than the one that the list names, and keeps the earlier list', async () => {
    await update(await publisher(() => '/blob', 302))
    const { url, paths, port } = await redirectingTo('/blob')
    const elsewhere = [`localhost:${port + 1}`, 'localhost', `notlocalhost:${port}`]
    expect(await updateFrom(url, elsewhere)).toMatchObject([
      { outcome: 'failed', reason: expect.stringContaining(`redirects to localhost:${port}`) },
    ])
    expect(paths).toEqual(['127.0.0.1/list'])
    expect(await status()).toMatchObject({ ready: true, lists: [{ entries: 1 }] })
  })

  it('follows its publisher to a host that the list names', async () => {
    const { url, paths, port } = await redirectingTo('/blob')
    expect(await updateFrom(url, [`localhost:${port}`])).toMatchObject([{ outcome: 'updated' }])
    expect(paths).toEqual(['127.0.0.1/list', 'localhost/blob'])
  })

  it('knows the storage of OFAC, whose own export is fetched by default', async () => {
    const bucket = 'wc2h-sls-prod-public-published.s3.us-gov-west-1.amazonaws.com'
    plain = createServer()
    secure = createSecureServer(credentials, (request, response) => {
      if (request.headers.host === bucket) response.writeHead(200).end(LIST)
      else response.writeHead(302, { location: `https://${bucket}/signed` }).end()
    })
    await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve))
    const tunnelled: (string | undefined)[] = []
    plain.on('connect', (request, client) => {
      tunnelled.push(request.url)
      const upstream = connect((secure.address() as AddressInfo).port, '127.0.0.1', () => {
        client.write('HTTP/1.1 200 Connection established\r\n\r\n')
        upstream.pipe(client).pipe(upstream)
      })
      for (const socket of [upstream, client]) {
        socket.on('error', () => {
          upstream.destroy()
          client.destroy()
        })
      }
    })
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve))
    const proxy = `http://127.0.0.1:${(plain.address() as AddressInfo).port}`
    for (const name of ['HTTPS_PROXY', 'https_proxy']) vi.stubEnv(name, proxy)
    for (const name of ['NO_PROXY', 'no_proxy']) vi.stubEnv(name, undefined)
    expect(await updateLists({ storeDirectory, protectedAddresses: [] })).toMatchObject([
      { outcome: 'updated', report: { added: 1 } },
    ])
    expect(tunnelled).toEqual(['sanctionslistservice.ofac.treas.gov:443', `${bucket}:443`])
  })

  it.each([301, 302, 303, 307, 308])(
    'asks for nothing at an unprotected address that it is sent to with %i, and keeps the earlier list',
    async (statusCode) => {
      await update(await publisher(() => '/blob', statusCode))
      const url = await publisher((plainUrl) => plainUrl, statusCode)
      expect(await update(url)).toMatchObject([
        { outcome: 'failed', reason: expect.stringContaining('unprotected address') },
      ])
      expect(asked).toEqual([])
      expect(await status()).toMatchObject({ ready: true, lists: [{ entries: 1 }] })
    },
  )

  it('follows its publisher to where that is protected as well', async () => {
    const url = await publisher(() => '/blob', 302)
    expect(await update(url)).toMatchObject([{ outcome: 'updated' }])
    expect(asked).toEqual([])
  })
})
