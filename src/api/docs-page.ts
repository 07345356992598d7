import { escapeHtml } from '../domain/escape-html.js'
import type { JsonSchema, JsonValue } from './json-schema.js'

/**
 * The reference as one page of HTML, made from the OpenAPI document at boot: no script, no other
 * file, nothing loaded from anywhere, so that it works offline and under the strictest policy.
 */

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema: JsonSchema
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
}

interface Entry {
  readonly method: string
  readonly path: string
  readonly operation: Operation
}

export function docsPage(openApi: JsonSchema): string {
  const document = openApi as unknown as Document
  const entries = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Entry => ({ method, path, operation })),
  )
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
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)} API</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>${STYLE}</style></head><body>
<nav>${nav}</nav><main><h1>${escapeHtml(title)} API <small>${escapeHtml(version)}</small></h1>${prose(description)}
<p><a href="/openapi.json">openapi.json</a> · <a href="/llms.txt">llms.txt</a></p>${body}</main></body></html>
`
}

function navLink({ method, operation }: Entry): string {
  return `<a href="#${operation.operationId}"><i class="${method}">${method}</i> ${escapeHtml(operation.summary)}</a>`
}

function section({ method, path, operation }: Entry): string {
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation
  const bodyContent = requestBody?.content['application/json']
  const fields = [...parameters.map(parameterRow), ...fieldRows(bodyContent?.schema)]
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'))
  const answer = success?.[1].content?.['application/json']?.example
  return `<section id="${operationId}"><h3>${escapeHtml(summary)}</h3>
<p><code><i class="${method}">${method}</i> ${escapeHtml(path)}</code></p>${prose(description ?? '')}
${fields.length === 0 ? '' : `<table><tr><th>Field</th><th>Type</th><th></th></tr>${fields.join('')}</table>`}
<pre>${escapeHtml(curl(method, path, operation, bodyContent?.example))}</pre>
${answer === undefined ? '' : `<pre>${escapeHtml(JSON.stringify(answer, null, 2))}</pre>`}
${errors(responses)}</section>`
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
  const [scheme] = (operation.security ?? []).flatMap((one) => Object.keys(one))
  const lines = [
    `curl${method === 'get' ? '' : ` -X ${method.toUpperCase()}`} "$COUNTERSIGN_URL${path}"`,
  ]
  if (scheme === 'apiKey') lines.push('-H "X-Api-Key: $COUNTERSIGN_API_KEY"')
  if (scheme === 'consoleToken') lines.push('-H "Authorization: Bearer $TOKEN"')
  if (body !== undefined) {
    lines.push('-H "Content-Type: application/json"', `-d '${JSON.stringify(body)}'`)
  }
  return lines.join(' \\\n  ')
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
  return `<details><summary>Errors</summary><table>${rows.join('')}</table></details>`
}

function prose(text: string): string {
  return text
    .split('\n\n')
    .map((paragraph) => `<p>${inline(paragraph)}</p>`)
    .join('')
}

function inline(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>')
}

const STYLE = `:root{color-scheme:light dark;--line:#8884;--soft:#8881}
*{box-sizing:border-box}body{margin:0;font:15px/1.55 system-ui,sans-serif;display:flex}
nav{position:sticky;top:0;height:100vh;overflow:auto;flex:0 0 270px;padding:20px;border-right:1px solid var(--line)}
nav b{display:block;margin:14px 0 4px}nav a{display:block;padding:2px 0;color:inherit;text-decoration:none;font-size:13px}
nav a:hover{text-decoration:underline}main{padding:20px 40px;max-width:900px;min-width:0}
section{border-top:1px solid var(--line);padding:14px 0}table{border-collapse:collapse;width:100%;font-size:13px}
td,th{border-bottom:1px solid var(--line);padding:4px 8px 4px 0;text-align:left;vertical-align:top}
pre{background:var(--soft);padding:12px;overflow:auto;font-size:12.5px;border-radius:6px}small{opacity:.65}
i{font:600 11px ui-monospace,monospace;text-transform:uppercase;opacity:.8}.post,.patch{color:#b45309}.delete{color:#b91c1c}.get{color:#15803d}
@media(max-width:760px){body{display:block}nav{position:static;height:auto;border:0}main{padding:20px}}`
