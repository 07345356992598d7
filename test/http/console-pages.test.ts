import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { consolePages } from '../../src/http/console-pages.js'
import { type Harness, startHarness } from './harness.js'

/** The console as it is served, by small files in place of what the build makes. */

const SCRIPT = 'console.log("the console")'
const STYLE = 'body{margin:0}'

let folder: string
let harness: Harness
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cs-console-'))
  for (const [name, text] of [
    ['console-A.js', SCRIPT],
    ['chunk-C.js', SCRIPT],
    ['keys-D.js', SCRIPT],
    ['console-B.css', STYLE],
  ] as const) {
    writeFileSync(join(folder, name), text)
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(text))
  }
  const assets = {
    script: 'console-A.js',
    preload: ['chunk-C.js'],
    lazy: ['keys-D.js'],
    style: 'console-B.css',
  }
  writeFileSync(join(folder, 'assets.json'), JSON.stringify(assets))
  const issuer = 'https://id.example.com/tenant"><script>'
  harness = await startHarness({
    extraRoutes: consolePages({ folder, issuer, audience: 'urn:countersign:console' }),
  })
})
afterAll(async () => {
  await harness?.server.close()
  rmSync(folder, { recursive: true, force: true })
})

interface Got {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: Buffer
}

/** fetch would ask for brotli and decompress it. */
function get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Got> {
  return new Promise((resolve, reject) => {
    const asked = request(`${harness.baseUrl}${path}`, { method, headers }, (response) => {
      const pieces: Buffer[] = []
      response.on('data', (piece: Buffer) => pieces.push(piece))
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(pieces),
        }),
      )
    })
    asked.on('error', reject)
    asked.end()
  })
}

describe('the page', () => {
  it.each(['/console', '/console/', '/console/callback?code=a', '/console/keys/key_1'])(
    '%s is the console, which finds its way by itself',
    async (path) => {
      const { status, headers, body } = await get(path)
      expect(status).toBe(200)
      expect(headers['content-type']).toBe('text/html; charset=utf-8')
      expect(headers['cache-control']).toBe('no-cache')
      expect(body.toString()).toContain('src="/console/assets/console-A.js"')
      const again = await get(path, { 'if-none-match': String(headers.etag) })
      expect(again.status).toBe(304)
    },
  )

  it('answers HEAD with the length alone', async () => {
    const { status, headers, body } = await get('/console', {}, 'HEAD')
    expect(status).toBe(200)
    expect(Number(headers['content-length'])).toBeGreaterThan(100)
    expect(body.length).toBe(0)
  })

  it('runs no script but its own, is framed by nobody, and talks to the identity provider alone', async () => {
    const { headers } = await get('/console')
    const policy = String(headers['content-security-policy'])
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
    expect(policy).toContain("connect-src 'self' https://id.example.com;")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toContain('unsafe')
    expect(policy).toContain("worker-src 'none'")
    expect(policy).toMatch(/require-trusted-types-for 'script'; trusted-types 'none'$/)
    expect(headers['referrer-policy']).toBe('no-referrer')
  })

  it('tells a browser at once of what its script imports, and of no page that is visited later', async () => {
    const html = (await get('/console')).body.toString()
    expect(html).toContain('<link rel="modulepreload" href="/console/assets/chunk-C.js">')
    expect(html).not.toContain('keys-D.js')
  })

  it("takes nothing of the operator's settings for markup", async () => {
    const { body } = await get('/console')
    expect(body.toString().match(/<script/g)).toHaveLength(1)
  })
})

describe('its files', () => {
  it.each(['console-A.js', 'chunk-C.js', 'keys-D.js'])(
    '%s is kept for good, compressed for who says so, and the same either way',
    async (name) => {
      const path = `/console/assets/${name}`
      const plain = await get(path)
      expect(plain.headers['content-encoding']).toBeUndefined()
      expect(plain.headers['content-type']).toBe('text/javascript; charset=utf-8')
      expect(plain.headers['cache-control']).toBe('public, max-age=31536000, immutable')
      expect(plain.headers.vary).toBe('Accept-Encoding')
      expect(plain.body.toString()).toBe(SCRIPT)
      const compressed = await get(path, { 'accept-encoding': 'gzip, deflate, br, zstd' })
      expect(compressed.headers['content-encoding']).toBe('br')
      expect(brotliDecompressSync(compressed.body).toString()).toBe(SCRIPT)
      const refused = await get(path, { 'accept-encoding': 'gzip, br;q=0' })
      expect(refused.headers['content-encoding']).toBeUndefined()
    },
  )

  it('are those that the build names, and no other', async () => {
    const { headers } = await get('/console/assets/assets.json')
    expect(headers['content-type']).toContain('text/html')
    const posted = await get('/console/assets/console-B.css', {}, 'POST')
    expect(posted.status).toBe(405)
  })

  it('have to be there: a service without them says how they are made', () => {
    const missing = join(folder, 'nowhere')
    expect(() => consolePages({ folder: missing, issuer: null, audience: 'a' })).toThrow(
      'npm run build',
    )
  })
})
