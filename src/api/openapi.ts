import type { z } from 'zod'
import { DRILLS, OWN_ACCOUNT_DRILLS } from '../domain/drill.js'
import { rolesWith } from '../domain/role.js'
import type { ErrorCode } from '../errors/catalogue.js'
import type { ConsoleOperationRow } from './console-operation-row.js'
import { consoleOperations } from './console-operations.js'
import { type ConsoleStreamRow, eventStream } from './console-streams.js'
import { FAULT_HEADER } from './drills.js'
import { RECORDED_EXAMPLES } from './generated/recorded-examples.js'
import { type JsonSchema, type JsonValue, toJsonSchema } from './json-schema.js'
import { answersOf, withExamples } from './openapi-answers.js'
import { BODY_ERRORS, CONSOLE_ERRORS, errorResponses } from './openapi-errors.js'
import { exampleOf } from './openapi-examples.js'
import { type OutputSchemas, outputSchemas } from './openapi-schemas.js'
import { webhooks } from './openapi-webhooks.js'
import { COMMON_ERRORS, type OperationRow } from './operation-row.js'
import { operations } from './operations.js'
import { ONE_AT_A_TIME } from './sponsored-words.js'
import { VERSION } from './version.js'

/** The OpenAPI 3.1 document, made from the two operations tables. */

const INTRODUCTION = [
  'A custodial wallet for AI agents: capped in USD, screened, signed by two keys.',
  '',
  'Amounts are integer strings in smallest units (wei for the native currency); USD amounts are decimal',
  'strings. Unknown fields are refused. Errors share one body with a stable `code`.',
  '',
  ONE_AT_A_TIME,
  '',
  'The same operations are MCP tools at `/mcp` (`x-mcp-tool`).',
].join('\n')

type ExampleInput = Readonly<Record<string, JsonValue>>

interface AnyRow {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly title: string
  readonly input: z.ZodType
  readonly output: z.ZodType
}

export function openApiDocument(): JsonSchema {
  const agentRows: readonly OperationRow[] = operations
  const consoleRows: readonly ConsoleOperationRow[] = consoleOperations
  const plain = outputSchemas([...agentRows, ...consoleRows, eventStream])
  const outputs = { ...plain, components: withExamples(plain.components) }
  const paths: { [path: string]: JsonSchema } = {}
  const add = (row: AnyRow, operation: JsonSchema) => {
    const path = row.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [row.method.toLowerCase()]: operation }
  }
  for (const row of agentRows) add(row, agentOperation(row, outputs))
  for (const row of consoleRows) add(row, consoleOperation(row, outputs))
  add(eventStream, streamOperation(eventStream, outputs))
  return {
    openapi: '3.1.0',
    info: {
      title: 'Countersign',
      version: VERSION,
      description: INTRODUCTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags: TAGS.map(({ name, description }) => ({ name, description })),
    paths: { ...paths, ...SERVICE_PATHS },
    webhooks: webhooks(outputs.components),
    components: {
      schemas: { ...outputs.components },
      securitySchemes: {
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Api-Key',
          description: 'sk_test_… or sk_live_…',
        },
        consoleToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
      },
      headers: HEADERS,
    },
  }
}

function agentOperation(row: OperationRow, outputs: OutputSchemas): JsonSchema {
  const codes: readonly ErrorCode[] = [
    ...COMMON_ERRORS,
    ...(row.method === 'POST' ? BODY_ERRORS : []),
    ...row.errors,
  ]
  return {
    ...baseOperation(row, outputs, codes, row.movesValue ? [IDEMPOTENCY_KEY, faultOf(row)] : []),
    description: `${row.description}\n\nPermission: \`${row.permission}\`.`,
    security: [{ apiKey: [] }],
    ...(row.surface === 'rest-and-mcp' ? { 'x-mcp-tool': row.name } : {}),
  }
}

function consoleOperation(row: ConsoleOperationRow, outputs: OutputSchemas): JsonSchema {
  const takesBody = row.method === 'POST' || row.method === 'PATCH'
  const codes: readonly ErrorCode[] = [
    ...CONSOLE_ERRORS,
    ...(takesBody ? BODY_ERRORS : []),
    ...row.errors,
  ]
  const security = { consoleToken: [], ...(row.presentsKey === true ? { apiKey: [] } : {}) }
  const headers = row.isCreation === true ? [CREATION_KEY] : []
  const description = `Roles: ${rolesWith(row.needs)
    .map((role) => `\`${role}\``)
    .join(', ')}.`
  return { ...baseOperation(row, outputs, codes, headers), description, security: [security] }
}

function streamOperation(row: ConsoleStreamRow, outputs: OutputSchemas): JsonSchema {
  const operation = consoleOperation(row, outputs)
  const description = `${row.description}\n\n${operation.description}`
  const content = { 'text/event-stream': { schema: outputs.of(row.output) } }
  const opened = { description: row.title, headers: SUCCESS_HEADERS, content }
  const responses = { ...(operation.responses as JsonSchema), 200: opened }
  const parameters = [...(operation.parameters as readonly JsonSchema[]), LAST_EVENT_ID]
  return { ...operation, description, parameters, responses }
}

const LAST_EVENT_ID: JsonSchema = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  description: 'The `id` of the last event received.',
  schema: { type: 'string', pattern: '^[0-9]{1,16}$' },
  example: '42',
}

function baseOperation(
  row: AnyRow,
  outputs: OutputSchemas,
  codes: readonly ErrorCode[],
  headers: readonly JsonSchema[],
): JsonSchema {
  const input = toJsonSchema(row.input, 'input')
  const inPath = [...row.path.matchAll(/:(\w+)/g)].map((match) => match[1] ?? '')
  const isQuery = row.method === 'GET' || row.method === 'DELETE'
  const recorded = RECORDED_EXAMPLES[row.name]
  const parameters = [...parametersOf(input, inPath, isQuery, recorded?.input), ...headers]
  const body = isQuery ? null : bodyOf(input, inPath, recorded?.input)
  const output = outputs.of(row.output)
  const usual = recorded?.answer ?? exampleOf(output, outputs.components)
  const answers = answersOf(row.name, row.title).map(({ status, description, example = usual }) => {
    const content = { 'application/json': { schema: output, example } }
    return [String(status), { description, headers: SUCCESS_HEADERS, content }] as const
  })
  return {
    operationId: row.name,
    summary: row.title,
    tags: [tagOf(row.path)],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === null ? {} : { requestBody: body }),
    responses: {
      ...Object.fromEntries(answers),
      ...errorResponses(codes),
    },
  }
}

function parametersOf(
  input: JsonSchema,
  inPath: readonly string[],
  withQuery: boolean,
  recorded: ExampleInput = {},
): JsonSchema[] {
  const { properties, required } = fieldsOf(input)
  const out: JsonSchema[] = []
  for (const [name, { description, ...schema }] of Object.entries(properties)) {
    const isPath = inPath.includes(name)
    if (!isPath && !withQuery) continue
    out.push({
      name,
      in: isPath ? 'path' : 'query',
      required: isPath || required.includes(name),
      ...(description === undefined ? {} : { description }),
      schema,
      example: recorded[name] ?? exampleField(name, schema),
    })
  }
  return out
}

function exampleField(name: string, schema: JsonSchema): JsonValue {
  const example = exampleOf({ type: 'object', properties: { [name]: schema } }, {})
  return (example as { readonly [key: string]: JsonValue })[name] ?? null
}

/** Null if the input is entirely in the path. */
function bodyOf(
  input: JsonSchema,
  inPath: readonly string[],
  recorded: ExampleInput | undefined,
): JsonSchema | null {
  const schema = withoutFields(input, inPath)
  const { properties, required } = fieldsOf(schema)
  if (Object.keys(properties).length === 0) return null
  return {
    required: required.length > 0 || schema.minProperties !== undefined,
    content: { 'application/json': { schema, example: bodyExample(schema, inPath, recorded) } },
  }
}

function bodyExample(
  schema: JsonSchema,
  inPath: readonly string[],
  recorded: ExampleInput | undefined,
): JsonValue {
  if (recorded === undefined) return exampleOf(schema, {})
  return Object.fromEntries(Object.entries(recorded).filter(([name]) => !inPath.includes(name)))
}

function withoutFields(schema: JsonSchema, names: readonly string[]): JsonSchema {
  if (names.length === 0) return schema
  const { properties, required } = fieldsOf(schema)
  const kept = Object.entries(properties).filter(([name]) => !names.includes(name))
  return {
    ...schema,
    properties: Object.fromEntries(kept),
    required: required.filter((name) => !names.includes(name)),
  }
}

function fieldsOf(schema: JsonSchema) {
  return {
    properties: (schema.properties ?? {}) as Readonly<Record<string, JsonSchema>>,
    required: (schema.required ?? []) as readonly string[],
  }
}

const TAGS: readonly {
  readonly name: string
  readonly description: string
  readonly path: RegExp
}[] = [
  {
    name: 'Wallet',
    description: 'Address, balances, chains, limits.',
    path: /^\/api\/(?:wallet|limits)/,
  },
  { name: 'Transactions', description: 'Send, simulate, follow.', path: /^\/api\/tx/ },
  { name: 'Swaps', description: 'Sponsored: the service pays the gas.', path: /^\/api\/swap/ },
  { name: 'Vaults', description: 'Sponsored deposits and withdrawals.', path: /^\/api\/defi/ },
  { name: 'Gas', description: 'Estimates, and native gas for USDC.', path: /^\/api\/gas/ },
  {
    name: 'Console',
    description: 'For the console: wallets, keys, webhooks.',
    path: /^\/api\/v1\/agent/,
  },
  { name: 'Service', description: 'No key needed.', path: /^\/(?:healthz|readyz)/ },
  { name: 'Webhooks', description: 'What endpoints receive.', path: /^$/ },
]

function tagOf(path: string): string {
  return TAGS.find((tag) => tag.path.test(path))?.name ?? 'Wallet'
}

const IDEMPOTENCY_KEY: JsonSchema = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'Same key = same payment, for 24 hours; reuse it when retrying.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
  example: 'invoice-2026-1120',
}

const CREATION_KEY: JsonSchema = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'A UUID of version 7. Same key = the same one, made once; reuse it when retrying within a day.',
  schema: { type: 'string', format: 'uuid' },
  example: '019abd5d-cea0-7c1f-8a3e-5d2f6b7c9e01',
}

function faultOf({ gas }: OperationRow): JsonSchema {
  const faults =
    gas === 'sponsored' ? DRILLS.filter((drill) => !OWN_ACCOUNT_DRILLS.has(drill)) : DRILLS
  return {
    name: FAULT_HEADER,
    in: 'header',
    required: false,
    description: 'Only with `sk_test_` keys: the fault to inject into this call.',
    schema: { type: 'string', enum: [...faults] },
  }
}

const HEADERS: JsonSchema = {
  XRequestId: {
    description: "The caller's id, if it sent a valid one.",
    schema: { type: 'string' },
  },
  RateLimit: { description: 'draft-ietf-httpapi-ratelimit-headers', schema: { type: 'string' } },
  AcceptEncoding: {
    description: 'Sent if the request had a Content-Encoding, which is refused.',
    schema: { type: 'string', const: 'identity' },
  },
  RetryAfter: { description: 'Seconds.', schema: { type: 'integer' } },
}
const SUCCESS_HEADERS: JsonSchema = {
  'X-Request-Id': { $ref: '#/components/headers/XRequestId' },
  RateLimit: { $ref: '#/components/headers/RateLimit' },
}

const health = (
  operationId: string,
  summary: string,
  statuses: readonly number[],
  schema: JsonSchema,
): JsonSchema => ({
  get: {
    operationId,
    summary,
    tags: ['Service'],
    security: [],
    responses: Object.fromEntries(
      statuses.map((status) => [
        String(status),
        { description: summary, content: { 'application/json': { schema } } },
      ]),
    ),
  },
})

const HEALTH: JsonSchema = {
  type: 'object',
  properties: { status: { type: 'string', enum: ['ok'] } },
  required: ['status'],
}

const READINESS: JsonSchema = {
  type: 'object',
  properties: {
    status: { type: 'string', enum: ['ready', 'not_ready'] },
    draining: { type: 'boolean', description: 'It is shutting down.' },
    parts: {
      type: 'object',
      description:
        'By name: co_signer, quorum, store, lists, prices, chains, disk, clock. A part that is down stops writes; one that is degraded stops some of them. Reasons and figures take credentials: get_service_status, or the port of the metrics.',
      additionalProperties: {
        type: 'object',
        properties: {
          status: { type: 'string', enum: ['up', 'degraded', 'down'] },
          standby: { type: 'boolean', description: 'True for a node that waits for the journal.' },
          loaded: { type: 'boolean' },
          behind: { type: 'integer', description: 'Entries of the journal that it lacks.' },
          epoch: { type: 'integer' },
        },
        required: ['status'],
        additionalProperties: true,
      },
    },
  },
  required: ['status', 'draining', 'parts'],
}

const SERVICE_PATHS: JsonSchema = {
  '/healthz': health('healthz', 'The process runs', [200], HEALTH),
  '/readyz': health('readyz', 'Whether writes are accepted, by part', [200, 503], READINESS),
}
