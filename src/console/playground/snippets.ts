import type { DocumentedOperation, Input } from './documented.js'
import type { PlannedRequest } from './request.js'

/**
 * The same call in several forms. None contains the key, which belongs where programs keep secrets.
 */
export interface Snippet {
  readonly title: string
  readonly text: string
}

export function snippetsOf(
  operation: DocumentedOperation,
  input: Input,
  request: PlannedRequest,
  idempotencyKey: string,
  origin: string,
): readonly Snippet[] {
  const key = operation.movesValue ? idempotencyKey : ''
  return [
    { title: 'curl', text: curlOf(request, origin) },
    { title: 'TypeScript', text: typescriptOf(operation, input, key, origin) },
    ...(operation.mcpTool === null
      ? []
      : [{ title: 'MCP', text: mcpOf(operation.mcpTool, input, key) }]),
  ]
}

function curlOf({ method, path, headers, body }: PlannedRequest, origin: string): string {
  const lines = [
    `curl -s${method === 'GET' ? '' : ` -X ${method}`} ${quoted(`${origin}${path}`)}`,
    '-H "X-Api-Key: $COUNTERSIGN_API_KEY"',
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === null ? [] : [`-d ${quoted(body)}`]),
  ]
  return lines.join(' \\\n  ')
}

/** Quoted for a POSIX shell, so that nothing is expanded. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function typescriptOf(
  { name }: DocumentedOperation,
  input: Input,
  idempotencyKey: string,
  origin: string,
): string {
  const method = name.replace(/_(\w)/g, (_all, letter: string) => letter.toUpperCase())
  const given = [
    ...(Object.keys(input).length === 0 && idempotencyKey === ''
      ? []
      : [JSON.stringify(input, null, 2)]),
    ...(idempotencyKey === '' ? [] : [JSON.stringify({ idempotencyKey }, null, 2)]),
  ]
  return `import { createClient } from 'countersign/client'

const wallet = createClient({
  url: ${JSON.stringify(origin)},
  apiKey: process.env.COUNTERSIGN_API_KEY,
})
console.log(await wallet.${method}(${given.join(', ')}))`
}

function mcpOf(name: string, input: Input, idempotencyKey: string): string {
  const key = idempotencyKey === '' ? {} : { idempotency_key: idempotencyKey }
  const call = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: { ...input, ...key } },
  }
  return JSON.stringify(call, null, 2)
}
