import { escapeHtml } from '../domain/escape-html.js'
import { FAVICON_LINK, wordmark } from '../domain/page-mark.js'
import { codeBlock } from './docs-html.js'
import { DOCS_SCRIPT } from './docs-script.js'
import { DOCS_STYLE } from './docs-style.js'
import { VERSION } from './version.js'

/** `/`: what runs here, and where to continue. */

const CARDS: readonly (readonly [href: string, title: string, text: string])[] = [
  ['/docs#first-send', 'First send', 'From a key to a confirmed transaction, in three requests.'],
  ['/docs', 'Guides and reference', 'Every operation with its fields, answers and errors.'],
  ['/docs#mcp', 'MCP', 'The same operations as tools, at /mcp, for agents and their hosts.'],
  ['/docs#webhooks', 'Webhooks', 'Which events are sent, in which order, and how to verify them.'],
  ['/openapi.json', 'openapi.json', 'All of it as OpenAPI 3.1, for programs.'],
  ['/llms.txt', 'llms.txt', 'All of it as plain text, for models.'],
]

const FIRST = `curl -s "$COUNTERSIGN_URL/api/limits" -H "X-Api-Key: $COUNTERSIGN_API_KEY"`

export function landingPage(): string {
  const cards = CARDS.map(
    ([href, title, text]) =>
      `<li><a class="card" href="${href}"><b>${escapeHtml(title)}</b>${escapeHtml(text)}</a></li>`,
  )
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Countersign</title>
<meta name="viewport" content="width=device-width, initial-scale=1">${FAVICON_LINK}<style>${DOCS_STYLE}</style></head><body>
<div class="start"><header class="bar">${wordmark('/')}
<nav aria-label="Site"><a href="/console">Console</a><a href="/docs">Docs</a><a href="/readyz">Readiness</a></nav></header>
<main><h1>Wallets for agents, signed by two keys</h1>
<p class="lead">Each key of an agent has its caps in USD. Every call is screened, and no party can sign alone. It runs here.</p>
<p class="actions"><a class="button" href="/console">Open the console</a><a class="button plain" href="/docs">Read the docs</a></p>
<ul class="cards">${cards.join('')}</ul>
<h2>Is my key good?</h2>
<p>With the address of this page in <code>COUNTERSIGN_URL</code> and a key in <code>COUNTERSIGN_API_KEY</code>:</p>
${codeBlock(FIRST)}
<p class="mute">Users of this service make keys with <code>countersign keys create</code>.</p></main>
<footer>Countersign ${escapeHtml(VERSION)}</footer></div>
<script>${DOCS_SCRIPT}</script></body></html>
`
}
