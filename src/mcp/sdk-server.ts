import {
  type CallToolResult,
  createMcpHandler,
  type McpHttpHandler,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server'
import type { Logger } from 'pino'
import { callTool, type McpExchange, type ToolBinding } from './call-tool.js'
import type { EnvelopeCache } from './envelope-cache.js'
import { reportProgress } from './progress.js'
import {
  HANDSHAKE_VERSIONS,
  INSTRUCTIONS,
  MODERN_VERSION,
  SERVER_INFO,
  TOOL_LIST_CACHE,
} from './protocol.js'
import { serveTasks, type TaskOperations } from './tasks.js'
import { sdkToolResult } from './tool-result.js'
import { TASKS_EXTENSION, transactionOfState, waitingResult } from './waiting-call.js'

/**
 * The protocol package behind the endpoint: one server per request, because the protocol is served
 * without sessions, bound to the caller of that request. It handles both eras, batches and all
 * malformed requests.
 */

/**
 * The most `subscriptions/listen` streams open at once; nothing that they report changes while the
 * process runs.
 */
const SUBSCRIPTIONS_MAX = 256
/** Short, so that open streams notice a shutdown within its time limit. */
const KEEP_ALIVE_MS = 5_000

type ToolCall = (
  name: string,
  args: Readonly<Record<string, unknown>>,
  exchange: McpExchange,
  context: ServerContext,
) => Promise<CallToolResult>

interface SdkHandlerOptions {
  readonly tools: readonly Tool[]
  readonly call: ToolCall
  readonly tasks: TaskOperations
  readonly envelopes: EnvelopeCache
  readonly logger: Logger
  /** Extends a new server; used by the conformance fixtures. */
  readonly extend?: ServerExtension
}

/** @param base what the server lists and calls by itself, with the caller bound */
export type ServerExtension = (
  server: Server,
  base: {
    readonly tools: readonly Tool[]
    readonly call: (
      name: string,
      args: Readonly<Record<string, unknown>>,
      context: ServerContext,
    ) => Promise<CallToolResult>
  },
) => void

export interface SdkHandler {
  /** @param body parsed JSON; undefined if the request's own body is not JSON */
  serve(request: Request, body: unknown, exchange: McpExchange): Promise<Response>
}

export function createSdkHandler(options: SdkHandlerOptions): SdkHandler {
  const { tools, call, tasks, envelopes, logger } = options
  const exchanges = new WeakMap<Request, McpExchange>()
  const handler: McpHttpHandler = createMcpHandler(
    ({ requestInfo }) => {
      const exchange = requestInfo === undefined ? undefined : exchanges.get(requestInfo)
      const server = new Server(SERVER_INFO, {
        capabilities: { tools: {}, extensions: { [TASKS_EXTENSION]: {} } },
        instructions: INSTRUCTIONS,
        supportedProtocolVersions: [...HANDSHAKE_VERSIONS, MODERN_VERSION],
        cacheHints: { 'tools/list': TOOL_LIST_CACHE },
      })
      const exchangeOf = () => {
        if (exchange !== undefined) return exchange
        throw new ProtocolError(ProtocolErrorCode.InternalError, 'no caller')
      }
      const callAs: Parameters<ServerExtension>[1]['call'] = (name, args, context) =>
        call(name, args, exchangeOf(), context)
      // A handler is reached only with an envelope that the package has found valid.
      const learn = ({ mcpReq }: ServerContext) => {
        if (mcpReq.envelope !== undefined) envelopes.learn(exchange?.envelope)
      }
      server.setRequestHandler('tools/list', (_request, context) => {
        learn(context)
        return { tools: [...tools] }
      })
      server.setRequestHandler('tools/call', ({ params }, context) => {
        learn(context)
        return callAs(params.name, params.arguments ?? {}, context)
      })
      serveTasks(server, tasks, exchangeOf)
      options.extend?.(server, { tools, call: callAs })
      return server
    },
    {
      maxSubscriptions: SUBSCRIPTIONS_MAX,
      keepAliveMs: KEEP_ALIVE_MS,
      onerror: (error) => logger.debug({ err: error }, 'mcp request refused'),
    },
  )
  return {
    serve(request, body, exchange) {
      exchanges.set(request, exchange)
      return handler.fetch(request, body === undefined ? {} : { parsedBody: body })
    },
  }
}

export function createToolCall(
  bindings: ReadonlyMap<string, ToolBinding>,
  { status }: TaskOperations,
): ToolCall {
  return async (name, args, exchange, context) => {
    const tool = bindings.get(name)
    if (tool === undefined) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name.slice(0, 64)}`)
    }
    const { envelope, requestState } = context.mcpReq
    const state = tool.row.movesValue ? requestState() : undefined
    if (state !== undefined) {
      const txId = transactionOfState(String(state), name, args)
      if (txId === null) {
        throw new ProtocolError(
          ProtocolErrorCode.InvalidParams,
          'requestState belongs to another call',
        )
      }
      return sdkToolResult(await callTool(status, { tx_id: txId }, exchange))
    }
    const pending = callTool(tool, args, exchange)
    const result = await (tool.row.movesValue ? reportProgress(context, pending) : pending)
    const waiting =
      envelope === undefined ? null : waitingResult(name, args, result, exchange.envelope)
    return (waiting as CallToolResult | null) ?? sdkToolResult(result)
  }
}
