import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
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
