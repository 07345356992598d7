import { escapeHtml } from '../domain/escape-html.js'
import { codeBlock } from './docs-html.js'
import { DOCS_SCRIPT } from './docs-script.js'
import { DOCS_STYLE } from './docs-style.js'
import { VERSION } from './version.js'

/** `/`: what runs here, and where to go from it. */

const CARDS: readonly (readonly [href: string, title: string, text: string])[] = [
  ['/docs#first-send', 'First send', 'From a key to a confirmed transaction, in three requests.'],
  ['/docs', 'Guides and reference', 'Every operation with its fields, answers and errors.'],
  ['/docs#mcp', 'MCP', 'The same operations as tools, at /mcp, for agents and their hosts.'],
  ['/docs#webhooks', 'Webhooks', 'What is told, in which order, and how to check who tells it.'],
  ['/llms.txt', 'llms.txt', 'All of it as plain text, for models.'],
  ['/openapi.json', 'openapi.json', 'All of it as OpenAPI 3.1, for programs.'],
  ['/readyz', 'Readiness', 'Whether writes are welcome now, part by part.'],
]

const FIRST = `curl -s "$COUNTERSIGN_URL/api/limits" -H "X-Api-Key: $COUNTERSIGN_API_KEY"`

export function landingPage(): string {
  const cards = CARDS.map(
    ([href, title, text]) =>
      `<li><a href="${href}"><b>${escapeHtml(title)}</b>${escapeHtml(text)}</a></li>`,
  )
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Countersign</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>${DOCS_STYLE}</style></head><body>
<main class="start"><h1>Countersign <small>${escapeHtml(VERSION)}</small></h1>
<p class="mute">A custodial wallet service for AI agents: capped in USD, screened, signed by two keys. It runs here.</p>
<ul class="cards">${cards.join('')}</ul>
<h2>Is my key good?</h2>
<p>With the address of this page in <code>COUNTERSIGN_URL</code> and a key in <code>COUNTERSIGN_API_KEY</code>:</p>
${codeBlock(FIRST)}
<p class="mute">Users of this service make keys with <code>countersign keys create</code>.</p></main>
<script>${DOCS_SCRIPT}</script></body></html>
`
}
