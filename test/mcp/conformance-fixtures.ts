import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequiredResult,
  inputRequired,
  MissingRequiredClientCapabilityError,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server'
import type { ServerExtension } from '../../src/mcp/sdk-server.js'

/** The diagnostic tools that the conformance suite calls, besides our own; for its runs alone. */

/** A PNG of one pixel, and a WAV without a sample. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA='
const PROGRESS_PAUSE_MS = 50

const text = { type: 'text', text: 'This is a simple text response for testing.' } as const
const image = { type: 'image', data: PNG, mimeType: 'image/png' } as const
const audio = { type: 'audio', data: WAV, mimeType: 'audio/wav' } as const
const resource = {
  type: 'resource',
  resource: {
    uri: 'test://embedded-resource',
    mimeType: 'text/plain',
    text: 'This is an embedded resource content.',
  },
} as const

type Run = (context: ServerContext) => Promise<CallToolResult | InputRequiredResult>

const of =
  (...content: CallToolResult['content']): Run =>
  async () => ({ content })

const FIXTURES: Readonly<Record<string, Run>> = {
  test_simple_text: of(text),
  test_image_content: of(image),
  test_audio_content: of(audio),
  test_embedded_resource: of(resource),
  test_multiple_content_types: of(text, image, resource),
  test_error_handling: async () => ({
    content: [{ type: 'text', text: 'This tool intentionally returns an error for testing' }],
    isError: true,
  }),
  test_tool_with_progress: async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken
    for (const progress of progressToken === undefined ? [] : [0, 50, 100]) {
      const params = { progressToken: progressToken ?? '', progress, total: 100 }
      await mcpReq.notify({ method: 'notifications/progress', params })
      await new Promise((resolve) => setTimeout(resolve, PROGRESS_PAUSE_MS))
    }
    return { content: [text] }
  },
  test_missing_capability: async ({ mcpReq }) => {
    const envelope = mcpReq.envelope as Readonly<Record<string, unknown>> | undefined
    const declared = envelope?.[CLIENT_CAPABILITIES_META_KEY] as { sampling?: object } | undefined
    if (declared?.sampling !== undefined) return { content: [text] }
    throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } })
  },
  test_streaming_elicitation: async ({ mcpReq }) => {
    if (mcpReq.inputResponses !== undefined) return { content: [text] }
    return inputRequired({
      inputRequests: {
        name: inputRequired.elicit({
          message: 'Who are you?',
          requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
        }),
      },
    })
  },
  test_logging_tool: async ({ mcpReq }) => {
    await mcpReq.log('info', 'a line for whoever asked for one')
    return { content: [text] }
  },
}

const TOOLS: readonly Tool[] = Object.keys(FIXTURES).map((name) => ({
  name,
  description: `Fixture of the conformance suite: ${name}.`,
  inputSchema: { type: 'object' },
}))

export const mountFixtures: ServerExtension = (server, base) => {
  server.registerCapabilities({ logging: {}, prompts: {}, resources: {} })
  server.setRequestHandler('prompts/list', () => ({ prompts: [] }))
  server.setRequestHandler('resources/list', () => ({ resources: [] }))
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }))
  server.setRequestHandler('tools/list', () => ({ tools: [...base.tools, ...TOOLS] }))
  server.setRequestHandler('tools/call', ({ params }, context) => {
    const run = Object.hasOwn(FIXTURES, params.name) ? FIXTURES[params.name] : undefined
    return run?.(context) ?? base.call(params.name, params.arguments ?? {}, context)
  })
}
