import { TRADE_SECRET } from '../http/harness.js'

/** JSON-RPC over HTTP by hand, for what no client would send. */

export interface McpAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The JSON body, or the last message of an event stream; null when there is neither. */
  readonly message: Readonly<Record<string, unknown>> | null
  /** All messages of an event stream, else the one body. */
  readonly messages: readonly Readonly<Record<string, unknown>>[]
}

export const PLAIN_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'x-api-key': TRADE_SECRET,
}

export async function postMessage(
  url: URL,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<McpAnswer> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...PLAIN_HEADERS, ...headers },
    body: text,
  })
  return readAnswer(response)
}

async function readAnswer(response: Response): Promise<McpAnswer> {
  const text = await response.text()
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  const parts = isStream
    ? text
        .split('\n')
        .filter((line) => line.startsWith('data: '))
        .map((line) => line.slice('data: '.length))
    : [text]
  const messages = parts.map(parse).filter((message) => message !== null)
  return {
    status: response.status,
    headers: response.headers,
    text,
    messages,
    message: messages.at(-1) ?? null,
  }
}

function parse(text: string): Readonly<Record<string, unknown>> | null {
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>
  } catch {
    return null
  }
}

export function toolCall(name: string, args: unknown, id: string | number = 1): object {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } }
}

/** The same message in the form of revision 2026-07-28, with the headers that go with it. */
export function modern(message: { readonly method?: unknown; readonly params?: unknown }): {
  readonly body: object
  readonly headers: Readonly<Record<string, string>>
} {
  const params = (message.params ?? {}) as { readonly name?: unknown; readonly _meta?: object }
  return {
    body: {
      ...message,
      params: {
        ...params,
        _meta: {
          ...params._meta,
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    },
    headers: {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': String(message.method),
      ...(typeof params.name === 'string' ? { 'mcp-name': params.name } : {}),
    },
  }
}
