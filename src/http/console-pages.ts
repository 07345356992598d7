import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { escapeHtml } from '../domain/escape-html.js'
import type { Header } from './reply.js'
import type { RequestHead } from './request-head.js'
import type { ExtraRoute } from './routes.js'

/**
 * Serves `/console`: one page, its scripts and its style sheet, read once at the start and served
 * from memory. Every path below it that is not a file returns the page, because the console routes
 * in the browser. Files have a hash in their names and never change; the page is requested each
 * time.
 */
interface ConsolePages {
  /** The folder of the built console. */
  readonly folder: string
  /** OIDC issuer that signs people in; without one (null) nobody can sign in. */
  readonly issuer: string | null
  /** The `aud` of console tokens. */
  readonly audience: string
}

const FOREVER = 'public, max-age=31536000, immutable'
const ASSETS_PATH = '/console/assets'

/** @throws Error if the console was not built */
export function consolePages({ folder, issuer, audience }: ConsolePages): ExtraRoute[] {
  const assets = readAssets(folder)
  const { script, preload, lazy, style } = assets
  return [
    ...pageRoutes({ ...assets, issuer, audience }),
    ...[script, ...preload, ...lazy].map((name) =>
      asset(folder, name, 'text/javascript; charset=utf-8'),
    ),
    asset(folder, style, 'text/css; charset=utf-8'),
  ]
}

interface Assets {
  readonly script: string
  /** Files that the script imports before it runs. */
  readonly preload: readonly string[]
  /** Files that it loads when a page is visited. */
  readonly lazy: readonly string[]
  readonly style: string
}

function readAssets(folder: string): Assets {
  try {
    return JSON.parse(readFileSync(join(folder, 'assets.json'), 'utf8')) as Assets
  } catch (cause) {
    throw new Error(`${folder} contains no console. Run npm run build`, { cause })
  }
}

/**
 * A page that could frame the console, or run a script of another origin in it, could spend with a
 * person's token.
 */
function contentSecurityPolicy(issuer: string | null): string {
  const provider = issuer === null ? '' : ` ${new URL(issuer).origin}`
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src 'self'${provider}`,
    "worker-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
}

function pageRoutes(
  shown: Assets & { readonly issuer: string | null; readonly audience: string },
): ExtraRoute[] {
  const body = Buffer.from(pageHtml(shown))
  const etag = etagOf(body)
  const headers: readonly Header[] = [
    ['ETag', etag],
    ['Content-Security-Policy', contentSecurityPolicy(shown.issuer)],
    // The address of the return from sign-in contains a code.
    ['Referrer-Policy', 'no-referrer'],
    ['Cross-Origin-Opener-Policy', 'same-origin'],
    ['Permissions-Policy', 'camera=(), microphone=(), geolocation=()'],
  ]
  return ['/console', '/console/*'].map((path) => ({
    method: 'GET',
    path,
    name: 'console_page',
    handle: (exchange, head) => {
      const isKnown = head.ifNoneMatch === etag
      exchange.send({
        status: isKnown ? 304 : 200,
        body: isKnown ? '' : body,
        contentType: 'text/html; charset=utf-8',
        cacheControl: 'no-cache',
        headers,
      })
    },
  }))
}

/** Everything that the page tells a browser is public, because every sign-in contains it. */
function pageHtml(shown: Assets & { readonly issuer: string | null; readonly audience: string }) {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="countersign:issuer" content="${escapeHtml(shown.issuer ?? '')}">
<meta name="countersign:audience" content="${escapeHtml(shown.audience)}">
<title>Countersign</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${ASSETS_PATH}/${shown.style}">
${shown.preload.map((name) => `<link rel="modulepreload" href="${ASSETS_PATH}/${name}">\n`).join('')}<script type="module" src="${ASSETS_PATH}/${shown.script}"></script>
</head>
<body>
<div id="console"></div>
<noscript>The console needs JavaScript. Everything it does, the command line and the API do too.</noscript>
</body>
</html>
`
}

function asset(folder: string, name: string, contentType: string): ExtraRoute {
  const plain = readFileSync(join(folder, name))
  const brotli = readFileSync(join(folder, `${name}.br`))
  const etag = etagOf(plain)
  return {
    method: 'GET',
    path: `${ASSETS_PATH}/${name}`,
    name: 'console_asset',
    handle: (exchange, head) => {
      const isKnown = head.ifNoneMatch === etag
      const isBrotli = acceptsBrotli(head)
      const headers: Header[] = [
        ['ETag', etag],
        ['Vary', 'Accept-Encoding'],
      ]
      if (isBrotli && !isKnown) headers.push(['Content-Encoding', 'br'])
      exchange.send({
        status: isKnown ? 304 : 200,
        body: isKnown ? '' : isBrotli ? brotli : plain,
        contentType,
        cacheControl: FOREVER,
        headers,
      })
    },
  }
}

/**
 * Browsers name the encoding plainly. For clients that weigh encodings by `q`, it is accepted
 * unless that is 0.
 */
function acceptsBrotli({ acceptEncoding }: Readonly<RequestHead>): boolean {
  return acceptEncoding
    .toLowerCase()
    .split(',')
    .some((part) => {
      const [coding, weight = ''] = part.split(';').map((text) => text.trim())
      return coding === 'br' && !/^q=0(\.0*)?$/.test(weight)
    })
}

function etagOf(body: Buffer): string {
  return `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
}
