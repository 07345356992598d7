import { createHash } from 'node:crypto'
import { llmsText } from '../api/docs-llms.js'
import { docsPage } from '../api/docs-page.js'
import { DOCS_SCRIPT } from '../api/docs-script.js'
import { DOCS_STYLE } from '../api/docs-style.js'
import { landingPage } from '../api/landing-page.js'
import { openApiDocument } from '../api/openapi.js'
import type { ExtraRoute } from './routes.js'

/**
 * Serves `/`, `/docs`, `/openapi.json` and `/llms.txt`, made once from the operations tables. They
 * need no key.
 */

const CACHE_CONTROL = 'public, max-age=300'
/** The pages have one style sheet and one script, allowed by their hashes, and an embedded icon. */
const PAGE_POLICY = `default-src 'none'; style-src ${hashOf(DOCS_STYLE)}; script-src ${hashOf(DOCS_SCRIPT)}; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}

export function documentRoutes(): ExtraRoute[] {
  const openApi = openApiDocument()
  return [
    document('landing', '/', 'text/html; charset=utf-8', landingPage()),
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
