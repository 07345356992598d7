import type { Tool } from '@modelcontextprotocol/server'
import { type JsonSchema, type JsonValue, toJsonSchema } from '../api/json-schema.js'
import type { OperationRow } from '../api/operation-row.js'
import { transactionRecord } from '../api/transaction.js'

/** The rows of the operations table that are MCP tools, as tools/list shows them. */

/** The 17 tools of CONTRACT.md, "MCP", in its order. */
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
 * @throws Error if a row claims to be a tool that the specification does not have
 */
export function toolRows<R extends OperationRow>(rows: readonly R[]): R[] {
  const tools = rows.filter(({ surface }) => surface === 'rest-and-mcp')
  const stranger = tools.find(({ name }) => !TOOL_ORDER.includes(name))
  if (stranger !== undefined) throw new Error(`${stranger.name} is not a tool of the specification`)
  return tools.sort((a, b) => TOOL_ORDER.indexOf(a.name) - TOOL_ORDER.indexOf(b.name))
}

/** Rows that an operator may add to the list. */
export function chosenToolRows<R extends OperationRow>(rows: readonly R[]): R[] {
  return rows.filter(({ surface }) => surface === 'rest-and-chosen-mcp')
}

export function describeTool(row: OperationRow): Tool {
  const reads = row.permission === 'read'
  const input = toJsonSchema(row.input, 'input')
  return {
    name: row.name,
    title: row.title,
    description: row.description,
    inputSchema: inputSchema(row.movesValue ? withIdempotencyKey(input) : input),
    outputSchema: outputSchema(row),
    annotations: {
      readOnlyHint: reads,
      destructiveHint: row.movesValue,
      // A write repeated without its key is another payment.
      idempotentHint: reads,
      openWorldHint: row.movesValue || asksAChain(input),
    },
  }
}

/**
 * The fields that a caller needs right after a write; get_transaction_status has the whole record.
 */
const WRITE_FIELDS: readonly string[] = ['tx_id', 'tx_hash', 'status', 'spend_usd', 'error']

function outputSchema(row: OperationRow): NonNullable<Tool['outputSchema']> {
  const slim = slimOutput(toJsonSchema(row.output, 'output'))
  if (row.output !== transactionRecord || !row.movesValue) return { ...slim, type: 'object' }
  const properties = Object.entries(propertiesOf(slim))
  return {
    type: 'object',
    description: 'transaction record, as in get_transaction_status',
    properties: Object.fromEntries(
      properties
        .filter(([name]) => WRITE_FIELDS.includes(name))
        .map(([name, field]) => [name, withoutInsides(field as JsonSchema)]),
    ),
  }
}

/** The values and fields are in the tool that describes the record. */
function withoutInsides({ enum: _values, properties: _fields, ...kept }: JsonSchema): JsonSchema {
  return kept
}

/**
 * What a reader of results needs: names, types, units. Bounds matter only to writers, and the
 * record of a transaction is in six tools, where it would double the list.
 */
function slimOutput(schema: JsonSchema): JsonSchema {
  const { required: _required, minimum, maxLength, pattern, ...kept } = schema
  const out: JsonSchema = { ...kept }
  if (kept.properties !== undefined) {
    out.properties = Object.fromEntries(
      Object.entries(propertiesOf(kept)).map(([name, child]) => [
        name,
        slimField(name, child as JsonSchema),
      ]),
    )
  }
  if (kept.items !== undefined) out.items = slimOutput(kept.items as JsonSchema)
  return out
}

/** Ids and times that explain themselves need no description. */
const PLAIN_FIELD = /^(?:chain_id|tx_id|tx_hash|nonce|.*_at)$/
/** The approval of a waiting call; its fields are in the answer and in the REST documents. */
const WHOLE_FIELD = 'approval'

function slimField(name: string, field: JsonSchema): JsonSchema {
  const slim = slimOutput(field)
  if (name === WHOLE_FIELD) return withoutInsides(slim)
  if (!PLAIN_FIELD.test(name)) return slim
  const { description: _description, ...plain } = slim
  return plain
}

function inputSchema(schema: JsonSchema): Tool['inputSchema'] {
  const { type: _object, ...rest } = withoutBounds(schema)
  return { type: 'object', ...rest }
}

/**
 * The service refuses what is too long; patterns and descriptions tell callers the form. Some hosts
 * refuse the whole list because of an example.
 */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'maxLength',
  'minLength',
  'minimum',
  'minProperties',
  'examples',
])

function withoutBounds(schema: JsonSchema): JsonSchema {
  const out: JsonSchema = {}
  for (const [key, value] of Object.entries(schema)) {
    if (!LEFT_OUT.has(key)) out[key] = isNode(value) ? withoutBounds(value) : value
  }
  return out
}

function isNode(value: JsonValue | undefined): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function withIdempotencyKey(schema: JsonSchema): JsonSchema {
  return {
    ...schema,
    properties: { ...propertiesOf(schema), [IDEMPOTENCY_ARGUMENT]: IDEMPOTENCY_SCHEMA },
  }
}

function asksAChain(schema: JsonSchema): boolean {
  return Object.hasOwn(propertiesOf(schema), 'chain_id')
}

function propertiesOf(schema: JsonSchema): JsonSchema {
  const { properties } = schema
  return typeof properties === 'object' && properties !== null ? (properties as JsonSchema) : {}
}
