import { createHmac, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { runInNewContext } from 'node:vm'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { consoleOperations } from '../../src/api/console-operations.js'
import { eventStream } from '../../src/api/console-streams.js'
import { eventType } from '../../src/api/console-webhooks.js'
import { llmsText } from '../../src/api/docs-llms.js'
import { docsPage } from '../../src/api/docs-page.js'
import { landingPage } from '../../src/api/landing-page.js'
import { openApiDocument } from '../../src/api/openapi.js'
import { COMMON_ERRORS } from '../../src/api/operation-row.js'
import { operations } from '../../src/api/operations.js'
import { transactionRecord } from '../../src/api/transaction.js'
import { VERSION } from '../../src/api/version.js'
import { documentRoutes } from '../../src/http/document-routes.js'
import type { ExtraRoute } from '../../src/http/routes.js'
import { startHarness } from '../http/harness.js'

interface OperationObject {
  readonly security: readonly object[]
  readonly responses: Readonly<
    Record<
      string,
      { readonly content: { readonly 'application/json': { readonly examples?: object } } }
    >
  >
  readonly requestBody?: {
    readonly content: { readonly 'application/json': { readonly example: object } }
  }
  readonly parameters?: readonly {
    readonly name: string
    readonly in: string
    readonly example: unknown
  }[]
}

const document = openApiDocument()
const paths = document.paths as unknown as Readonly<
  Record<string, Readonly<Record<string, OperationObject>>>
>
const rows = [...operations, ...consoleOperations]

function operationOf(row: (typeof rows)[number]): OperationObject {
  const found = paths[row.path.replace(/:(\w+)/g, '{$1}')]?.[row.method.toLowerCase()]
  if (found === undefined) throw new Error(`${row.name} is missing`)
  return found
}

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(document))
    expect(errors).toBeUndefined()
    expect(valid).toBe(true)
  })

  it.each(rows.map((row) => [row.name, row] as const))(
    'has %s, with each of its error codes',
    (_name, row) => {
      const operation = operationOf(row)
      const codes = Object.values(operation.responses).flatMap((response) =>
        Object.keys(response.content['application/json'].examples ?? {}),
      )
      expect(codes).toEqual(expect.arrayContaining([...row.errors]))
      if ('permission' in row) expect(codes).toEqual(expect.arrayContaining([...COMMON_ERRORS]))
      expect(operation.security).toEqual(
        'permission' in row
          ? [{ apiKey: [] }]
          : [{ consoleToken: [], ...('presentsKey' in row ? { apiKey: [] } : {}) }],
      )
    },
  )

  it.each(rows.map((row) => [row.name, row] as const))(
    'shows an input of %s that its schema takes',
    (_name, row) => {
      const operation = operationOf(row)
      const given = (operation.parameters ?? []).filter(({ in: place }) => place !== 'header')
      const input = {
        ...operation.requestBody?.content['application/json'].example,
        ...Object.fromEntries(given.map(({ name, example }) => [name, example])),
      }
      expect(row.input.safeParse(input).error?.issues ?? []).toEqual([])
    },
  )

  it.each(rows.map((row) => [row.name, row] as const))(
    'shows an answer of %s that its schema allows',
    (_name, row) => {
      const { responses } = operationOf(row)
      const successes = Object.entries(responses).filter(([status]) => status.startsWith('2'))
      expect(successes).not.toEqual([])
      for (const [, { content }] of successes) {
        const { example } = content['application/json'] as { readonly example?: unknown }
        expect(row.output.safeParse(example).error?.issues ?? []).toEqual([])
      }
    },
  )

  it('has the event stream, which is resumed by a header', () => {
    const { get } = paths[eventStream.path] ?? {}
    expect(get).toMatchObject({
      operationId: eventStream.name,
      security: [{ consoleToken: [] }],
      responses: { 200: { content: { 'text/event-stream': {} } } },
    })
    expect((get?.parameters ?? []).map(({ name }) => name)).toEqual(['after', 'Last-Event-ID'])
  })

  it('describes a delivery of each event, with its signature', () => {
    const deliveries = document.webhooks as unknown as Readonly<
      Record<string, { readonly post: OperationObject }>
    >
    expect(Object.keys(deliveries)).toEqual(eventType.options)
    for (const [type, { post }] of Object.entries(deliveries)) {
      const names = (post.parameters ?? []).map(({ name }) => name)
      expect(names).toEqual(['webhook-id', 'webhook-timestamp', 'webhook-signature'])
      const { example } = post.requestBody?.content['application/json'] ?? {}
      expect(example).toMatchObject({ type })
      const { data } = example as { readonly data: unknown }
      if (type.startsWith('transaction.')) {
        expect(transactionRecord.safeParse(data).error?.issues ?? []).toEqual([])
      }
    }
  })

  it('carries the version of the package', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
    expect(VERSION).toBe(version)
  })
})

describe('the pages', () => {
  it('load nothing from anywhere', () => {
    const page = docsPage(document)
    for (const html of [page, landingPage()]) {
      const rest = html.replace(/<link rel="icon" href="data:image[^"]*">/, '')
      expect(rest).not.toMatch(/<link|@import|src=|url\(|style=|\son\w+=/)
    }
    for (const row of rows) expect(page).toContain(`id="${row.name}"`)
  })

  it('lead to nothing that is not there', async () => {
    // The console's own routes need what its build makes; what they serve is in test/http.
    const thereToo: ExtraRoute = {
      ...{ method: 'GET', path: '/console', name: 'console' },
      handle: (exchange) => exchange.send({ status: 200, body: '', contentType: 'text/html' }),
    }
    const { server, baseUrl } = await startHarness({
      extraRoutes: [...documentRoutes(), thereToo],
    })
    const pages = new Map<string, string>()
    const pageAt = async (path: string) => {
      const known = pages.get(path)
      if (known !== undefined) return known
      const response = await fetch(`${baseUrl}${path}`)
      expect([200, 503], path).toContain(response.status)
      const text = await response.text()
      pages.set(path, text)
      return text
    }
    for (const from of ['/', '/docs']) {
      const links = [...(await pageAt(from)).matchAll(/<a[^>]* href="([^"]+)"/g)]
      expect(links.length).toBeGreaterThan(5)
      for (const [, link = ''] of links) {
        const [path = '', anchor] = link.split('#')
        const there = await pageAt(path === '' ? from : path)
        if (anchor !== undefined) expect(there).toContain(`id="${anchor}"`)
      }
    }
    await server.close()
  })

  it('show code that checks a delivery as it is signed', async () => {
    const code = /function isGenuine[\s\S]*?\n}/.exec(unescaped(docsPage(document)))?.[0] ?? ''
    const secret = `whsec_${Buffer.from('a secret of twenty-four').toString('base64')}`
    const body = JSON.stringify({ type: 'webhook.test' })
    const at = new Date()
    const headers = {
      'webhook-id': 'evt_1',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': new Webhook(secret).sign('evt_1', at, body),
    }
    const check = runInNewContext(`(${code})`, { createHmac, timingSafeEqual, Buffer, Date }) as (
      ...args: readonly unknown[]
    ) => boolean
    expect(check(headers, body, secret)).toBe(true)
    expect(check(headers, `${body} `, secret)).toBe(false)
    expect(check({ ...headers, 'webhook-timestamp': '1' }, body, secret)).toBe(false)
  })

  it('tell agents every operation', () => {
    for (const row of operations) expect(llmsText()).toContain(row.path.replace(/:(\w+)/g, '{$1}'))
  })

  it('are served without a key, and not again to who has them', async () => {
    const { server, baseUrl } = await startHarness({ extraRoutes: documentRoutes() })
    for (const [path, type] of [
      ['/openapi.json', 'application/json'],
      ['/', 'text/html'],
      ['/docs', 'text/html'],
      ['/llms.txt', 'text/plain'],
    ]) {
      const first = await fetch(`${baseUrl}${path}`)
      expect(first.status).toBe(200)
      expect(first.headers.get('content-type')).toContain(type)
      await first.text()
      const etag = first.headers.get('etag') ?? ''
      const again = await fetch(`${baseUrl}${path}`, { headers: { 'if-none-match': etag } })
      expect(again.status).toBe(304)
    }
    await server.close()
  })
})

/** The text of a page's code. */
function unescaped(html: string): string {
  return html
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&#34;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&#60;', '<')
    .replaceAll('&#62;', '>')
    .replaceAll('&#38;', '&')
    .replaceAll('&amp;', '&')
}
