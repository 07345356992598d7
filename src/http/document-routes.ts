import { createHash } from 'node:crypto'
import { llmsText } from '../api/docs-llms.js'
import { docsPage } from '../api/docs-page.js'
import { openApiDocument } from '../api/openapi.js'
import type { ExtraRoute } from './routes.js'

/** `/openapi.json`, `/docs` and `/llms.txt`: made once from the operations tables, no key needed. */

const CACHE_CONTROL = 'public, max-age=300'
/** The page has one style sheet of its own and needs nothing else. */
const PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

export function documentRoutes(): ExtraRoute[] {
  const openApi = openApiDocument()
  return [
    document('openapi', '/openapi.json', 'application/json', JSON.stringify(openApi)),
    document('docs', '/docs', 'text/html; charset=utf-8', docsPage(openApi)),
    document('llms', '/llms.txt', 'text/plain; charset=utf-8', llmsText()),
  ]
}

function document(name: string, path: string, contentType: string, text: string): ExtraRoute {
  const body = Buffer.from(text)
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
  const headers = [
    ['ETag', etag],
    ['Content-Security-Policy', PAGE_POLICY],
  ] as const
  return {
    method: 'GET',
    path,
    name,
    handle: (exchange, head) => {
      const isKnown = head.ifNoneMatch === etag
      exchange.send({
        status: isKnown ? 304 : 200,
        body: isKnown ? '' : body,
        contentType,
        cacheControl: CACHE_CONTROL,
        headers,
      })
    },
  }
}
