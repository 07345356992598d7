import { escapeHtml } from '../domain/escape-html.js'
import { FAVICON_LINK, wordmark } from '../domain/page-mark.js'
import { GUIDES } from './docs-guides.js'
import { codeBlock, inline, prose } from './docs-html.js'
import { DOCS_SCRIPT } from './docs-script.js'
import { DOCS_STYLE } from './docs-style.js'
import { RECORDED_EXAMPLES } from './generated/recorded-examples.js'
import type { JsonSchema, JsonValue } from './json-schema.js'

/**
 * Guides and reference as one HTML page; the reference is made from the OpenAPI document at the
 * start. It loads no other file, so it works offline and under a strict policy.
 */

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema: JsonSchema
  readonly example?: JsonValue
}

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly tags: readonly string[]
  readonly security?: readonly JsonSchema[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content?: Content }>
  >
}

type Content = Readonly<
  Record<
    string,
    { readonly schema: JsonSchema; readonly example?: JsonValue; readonly examples?: JsonSchema }
  >
>

interface Document {
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>
}

interface Entry {
  readonly method: string
  readonly path: string
  readonly operation: Operation
  /** Received by an endpoint, not called. */
  readonly isWebhook: boolean
}

export function docsPage(openApi: JsonSchema): string {
  const document = openApi as unknown as Document
  const entries = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]): Entry => ({ method, path, operation, isWebhook: false }),
    ),
  )
  for (const [type, { post }] of Object.entries(document.webhooks)) {
    entries.push({ method: 'post', path: type, operation: post, isWebhook: true })
  }
  const groups = document.tags.map((tag) => ({
    ...tag,
    entries: entries.filter(({ operation }) => operation.tags.includes(tag.name)),
  }))
  const shown = groups.filter((group) => group.entries.length > 0)
  const nav = shown
    .map((group) => `<b>${escapeHtml(group.name)}</b>${group.entries.map(navLink).join('')}`)
    .join('')
  const body = shown
    .map(
      (group) =>
        `<h2>${escapeHtml(group.name)}</h2><p>${escapeHtml(group.description)}</p>${group.entries.map(section).join('')}`,
    )
    .join('')
  const { title, version, description } = document.info
  const guideLinks = GUIDES.map(({ id, title: name }) => `<a href="#${id}">${escapeHtml(name)}</a>`)
  const guides = GUIDES.map(
    ({ id, title: name, html }) =>
      `<section id="${id}"><h3>${escapeHtml(name)}</h3>${html}</section>`,
  )
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)} API</title>
<meta name="viewport" content="width=device-width, initial-scale=1">${FAVICON_LINK}<style>${DOCS_STYLE}</style></head><body class="reference">
<nav class="side" aria-label="Contents">${wordmark('/')}<details open><summary>Contents</summary>
<label><input id="search" type="search" placeholder="Search" aria-label="Search" hidden><small id="found" role="status"></small></label>
<b>Guides</b>${guideLinks.join('')}${nav}</details></nav>
<main><h1>${escapeHtml(title)} API <small>${escapeHtml(version)}</small></h1>${prose(description)}
<p><a href="/openapi.json">openapi.json</a> · <a href="/llms.txt">llms.txt</a></p><h2>Guides</h2>${guides.join('')}${body}</main>
<script>${DOCS_SCRIPT}</script></body></html>
`
}

function navLink({ method, operation }: Entry): string {
  return `<a href="#${operation.operationId}">${escapeHtml(operation.summary)} <i class="${method}">${method}</i></a>`
}

function section({ method, path, operation, isWebhook }: Entry): string {
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation
  const bodyContent = requestBody?.content['application/json']
  const fields = [...parameters.map(parameterRow), ...fieldRows(bodyContent?.schema)]
  const answers = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([status, response]) => answerOf(status, response))
    .join('')
  return `<section id="${operationId}"><h3>${escapeHtml(summary)}</h3>
<p><code><i class="${method}">${method}</i> ${escapeHtml(path)}</code></p>${prose(description ?? '')}
${fields.length === 0 ? '' : `<div class="scroll" tabindex="0"><table><tr><th>Field</th><th>Type</th><th>Meaning</th></tr>${fields.join('')}</table></div>`}
${codeBlock(isWebhook ? JSON.stringify(bodyContent?.example, null, 2) : curl(method, path, operation, bodyContent?.example))}
${answers}
${errors(responses)}</section>`
}

function answerOf(
  status: string,
  { description, content }: { readonly description: string; readonly content?: Content },
): string {
  const example = content?.['application/json']?.example
  const shown = example === undefined ? '' : codeBlock(JSON.stringify(example, null, 2))
  return `<p><b>${status}</b> ${inline(description)}</p>${shown}`
}

function parameterRow({ name, in: place, required, description, schema }: Parameter): string {
  const note = `${place}${required === true ? ', required' : ''}`
  return fieldRow(`${name} <small>${note}</small>`, typeName(schema), description ?? '')
}

function fieldRows(schema: JsonSchema | undefined): string[] {
  if (schema === undefined) return []
  const required = (schema.required ?? []) as readonly string[]
  const properties = (schema.properties ?? {}) as Readonly<Record<string, JsonSchema>>
  return Object.entries(properties).map(([name, field]) => {
    const note = required.includes(name) ? ' <small>required</small>' : ''
    return fieldRow(`${name}${note}`, typeName(field), String(field.description ?? ''))
  })
}

function fieldRow(name: string, type: string, description: string): string {
  return `<tr><td>${name}</td><td>${escapeHtml(type)}</td><td>${escapeHtml(description)}</td></tr>`
}

function typeName(schema: JsonSchema): string {
  if (Array.isArray(schema.enum)) return schema.enum.map(String).join(' | ')
  if (Array.isArray(schema.anyOf)) {
    return (schema.anyOf as readonly JsonSchema[]).map(typeName).join(' | ')
  }
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.type === 'array') return `${typeName((schema.items ?? {}) as JsonSchema)}[]`
  return Array.isArray(schema.type)
    ? schema.type.map(String).join(' | ')
    : String(schema.type ?? '')
}

function curl(
  method: string,
  path: string,
  operation: Operation,
  body: JsonValue | undefined,
): string {
  const schemes = (operation.security ?? []).flatMap((one) => Object.keys(one))
  const lines = [
    `curl${method === 'get' ? '' : ` -X ${method.toUpperCase()}`} "$COUNTERSIGN_URL${filledPath(path, operation)}"`,
  ]
  if (schemes.includes('apiKey')) lines.push('-H "X-Api-Key: $COUNTERSIGN_API_KEY"')
  if (schemes.includes('consoleToken')) lines.push('-H "Authorization: Bearer $TOKEN"')
  if (body !== undefined) {
    const json = JSON.stringify(body).replaceAll("'", "'\\''")
    lines.push('-H "Content-Type: application/json"', `-d '${json}'`)
  }
  return lines.join(' \\\n  ')
}

/** Fills in the path's example ids and the query of the recorded request. */
function filledPath(path: string, { operationId, parameters = [] }: Operation): string {
  const { input = {} } = RECORDED_EXAMPLES[operationId] ?? {}
  const query = new URLSearchParams()
  let filled = path
  for (const { name, in: place, example } of parameters) {
    const value = String(example)
    if (place === 'path') filled = filled.replace(`{${name}}`, encodeURIComponent(value))
    if (place === 'query' && name in input) query.set(name, value)
  }
  return query.size === 0 ? filled : `${filled}?${query}`
}

function errors(responses: Operation['responses']): string {
  const rows = Object.entries(responses)
    .filter(([status]) => !status.startsWith('2'))
    .flatMap(([status, { description }]) =>
      description
        .split('\n\n')
        .map((line) => `<tr><td>${status}</td><td>${inline(line)}</td></tr>`),
    )
  if (rows.length === 0) return ''
  return `<details><summary>Errors</summary><div class="scroll" tabindex="0"><table>${rows.join('')}</table></div></details>`
}
