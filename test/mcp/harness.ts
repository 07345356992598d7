import { pino } from 'pino'
import { consoleOperations } from '../../src/api/console-operations.js'
import type { OperationRow } from '../../src/api/operation-row.js'
import { operations } from '../../src/api/operations.js'
import { createApiKeyAuthenticator } from '../../src/auth/api-key.js'
import {
  createRateLimiter,
  FAILED_AUTHENTICATION_POLICY,
  type RateLimitPolicy,
} from '../../src/auth/rate-limit.js'
import { createUnverifiedTokens } from '../../src/auth/unverified-tokens.js'
import { fault, refuse } from '../../src/errors/fault.js'
import { createHttpMetrics } from '../../src/http/metrics.js'
import type { ExtraRoute } from '../../src/http/routes.js'
import { createHttpServer, type HttpServer } from '../../src/http/server.js'
import { createMcpRoutes, type McpRoutesOptions } from '../../src/mcp/routes.js'
import type {
  AgentContext,
  AgentHandlers,
  Answer,
  ConsoleHandlers,
} from '../../src/operations/context.js'
import { HARNESS_KEYS, readerOf } from '../http/harness.js'
import { sampleOutput } from './sample-output.js'

/** REST and MCP of one set of small handlers, on a free port. */

interface RecordedCall {
  readonly operation: string
  readonly input: unknown
  readonly keyId: string
  readonly idempotencyKey: string | null
  readonly bodyHash: string | null
  readonly proofKeyIsIntact: boolean
}

export type TestHandler = (
  context: AgentContext,
  input: Readonly<Record<string, unknown>>,
) => Answer<unknown> | Promise<Answer<unknown>>

export interface McpHarnessOptions {
  readonly handlers?: Readonly<Record<string, TestHandler>>
  readonly path?: 'fast-and-sdk' | 'sdk-only'
  readonly policy?: RateLimitPolicy
  readonly extend?: McpRoutesOptions['extend']
  readonly subKeyTool?: boolean
  readonly extraRoutes?: readonly ExtraRoute[]
}

export interface McpHarness {
  readonly server: HttpServer
  readonly baseUrl: string
  readonly mcpUrl: URL
  readonly calls: RecordedCall[]
  readonly logged: Record<string, unknown>[]
}

const UNMETERED: RateLimitPolicy = { name: 'key', refillPerSecond: 1_000_000, burst: 1_000_000 }

export async function startMcpHarness(options: McpHarnessOptions = {}): Promise<McpHarness> {
  const calls: RecordedCall[] = []
  const logged: Record<string, unknown>[] = []
  const handlerOf = (row: OperationRow): TestHandler => {
    const given = options.handlers?.[row.name]
    return (context, input) => {
      calls.push({
        operation: row.name,
        input,
        keyId: context.key.keyId,
        idempotencyKey: context.idempotency?.key ?? null,
        bodyHash: context.idempotency?.bodyHash ?? null,
        proofKeyIsIntact: context.proofKey.every((byte) => byte === 7),
      })
      return given?.(context, input) ?? { ok: true, value: sampleOutput(row, input) }
    }
  }
  const agent = Object.fromEntries(
    operations.map((row) => [row.name, handlerOf(row)]),
  ) as unknown as AgentHandlers
  const console = Object.fromEntries(
    consoleOperations.map(({ name }) => [name, () => ({ ok: true, value: {} })]),
  ) as unknown as ConsoleHandlers
  const { authenticate } = createApiKeyAuthenticator({
    reader: readerOf(HARNESS_KEYS),
    environment: 'test',
    deriveProofKey: () => new Uint8Array(32).fill(7),
    nowMs: Date.now,
  })
  const nowMs = () => performance.now()
  const logger = pino(
    { level: 'info' },
    { write: (line: string) => void logged.push(JSON.parse(line) as Record<string, unknown>) },
  )
  const shared = {
    agent,
    authenticate,
    rateLimit: createRateLimiter({ policy: options.policy ?? UNMETERED, nowMs }),
    failedAuthentications: createRateLimiter({ policy: FAILED_AUTHENTICATION_POLICY, nowMs }),
    logger,
  }
  const server = createHttpServer({
    ...shared,
    console,
    unverifiedTokens: createUnverifiedTokens({ nowMs }),
    isMember: () => true,
    remembersConsole: () => false,
    verifyConsole: async () => refuse(fault('INVALID_TOKEN')),
    metrics: createHttpMetrics(),
    extraRoutes: [
      ...createMcpRoutes({
        ...shared,
        path: options.path ?? 'fast-and-sdk',
        ...(options.extend === undefined ? {} : { extend: options.extend }),
        subKeyTool: options.subKeyTool === true,
      }),
      ...(options.extraRoutes ?? []),
    ],
    drainTimeoutMs: 20_000,
  })
  const port = await server.listen('127.0.0.1', 0)
  const baseUrl = `http://127.0.0.1:${port}`
  return { server, baseUrl, mcpUrl: new URL('/mcp', baseUrl), calls, logged }
}
