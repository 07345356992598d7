import type { Tool } from '@modelcontextprotocol/server'
import { type JsonSchema, toJsonSchema } from '../api/json-schema.js'
import type { OperationRow } from '../api/operations.js'

/** The rows of the operations table that are MCP tools, as tools/list shows them. */

/** SPEC, "MCP endpoint": the 17 tools in its order. */
export const TOOL_ORDER: readonly string[] = [
  'get_wallet_address',
  'get_balance',
  'get_native_balance',
  'get_token_balances',
  'get_limits',
  'send_transaction',
  'simulate_transaction',
  'get_swap_quote',
  'execute_swap',
  'defi_deposit',
  'defi_withdraw',
  'get_defi_markets',
  'get_positions',
  'gas_swap',
  'gas_estimate',
  'get_transaction_status',
  'get_supported_chains',
]

/** Write tools take the REST header `Idempotency-Key` as this argument. */
export const IDEMPOTENCY_ARGUMENT = 'idempotency_key'

const IDEMPOTENCY_SCHEMA: JsonSchema = {
  type: 'string',
  minLength: 1,
  maxLength: 255,
  description: 'same key = same payment; reuse it when retrying',
}

/**
 * The rows that are tools, in the specification's order.
 * @throws Error when a row claims to be a tool that the specification does not know
 */
export function toolRows<R extends OperationRow>(rows: readonly R[]): R[] {
  const tools = rows.filter(({ surface }) => surface === 'rest-and-mcp')
  const stranger = tools.find(({ name }) => !TOOL_ORDER.includes(name))
  if (stranger !== undefined) throw new Error(`${stranger.name} is no tool of the specification`)
  return tools.sort((a, b) => TOOL_ORDER.indexOf(a.name) - TOOL_ORDER.indexOf(b.name))
}

export function describeTool(row: OperationRow): Tool {
  const reads = !row.movesValue
  const input = toJsonSchema(row.input, 'input')
  return {
    name: row.name,
    title: row.title,
    description: row.description,
    inputSchema: inputSchema(row.movesValue ? withIdempotencyKey(input) : input),
    outputSchema: { ...toJsonSchema(row.output, 'output'), type: 'object' },
    annotations: {
      readOnlyHint: reads,
      destructiveHint: row.movesValue,
      // A write repeated without its key is another payment.
      idempotentHint: reads,
      openWorldHint: row.movesValue || asksAChain(input),
    },
  }
}

/** MCP wants an object at the root, also of a union. */
function inputSchema(schema: JsonSchema): Tool['inputSchema'] {
  const { type: _object, ...rest } = schema
  return { type: 'object', ...rest }
}

function withIdempotencyKey(schema: JsonSchema): JsonSchema {
  if (Array.isArray(schema.anyOf)) {
    return { ...schema, anyOf: schema.anyOf.map((branch) => withIdempotencyKey(branch)) }
  }
  return {
    ...schema,
    properties: { ...propertiesOf(schema), [IDEMPOTENCY_ARGUMENT]: IDEMPOTENCY_SCHEMA },
  }
}

function asksAChain(schema: JsonSchema): boolean {
  if (Array.isArray(schema.anyOf)) return schema.anyOf.some((branch) => asksAChain(branch))
  return Object.hasOwn(propertiesOf(schema), 'chain_id')
}

function propertiesOf(schema: JsonSchema): JsonSchema {
  const { properties } = schema
  return typeof properties === 'object' && properties !== null ? (properties as JsonSchema) : {}
}
