import { CHAIN_COUNT } from '../domain/chains.js'
import { CATALOGUE } from '../errors/catalogue.js'
import { type JsonSchema, toJsonSchema } from './json-schema.js'
import type { OperationRow } from './operation-row.js'
import { operations } from './operations.js'
import { ONE_AT_A_TIME } from './sponsored-words.js'

/** `/llms.txt` (llmstxt.org): what an agent needs to use the service, in one plain text. */
export function llmsText(): string {
  const rows: readonly OperationRow[] = operations
  const codes = Object.entries(CATALOGUE).map(
    ([code, { status, message, retryable }]) =>
      `- ${code} (${status}${retryable ? ', retry can help' : ''}): ${message}`,
  )
  return `# Countersign

> A custodial wallet for AI agents on ${CHAIN_COUNT} EVM chains: spend caps in USD, screening of every
> counterparty, two signatures on every transaction.

- Authenticate each request with the header \`X-Api-Key: sk_test_…\` or \`sk_live_…\`.
- REST is at \`/api/*\` (\`/openapi.json\`, \`/docs\`); the same operations are MCP tools at \`/mcp\`.
- Amounts are integer strings in smallest units (wei for native currency), never whole tokens.
  USD amounts are decimal strings. Never guess token addresses.
- Give each intended payment one \`Idempotency-Key\` (MCP: \`idempotency_key\`) and reuse it when
  retrying: same key = same payment.
- A send answers \`broadcast\`; ask \`get_transaction_status\` until \`confirmed\`, \`failed\` or \`dropped\`,
  or register a webhook. \`awaiting_approval\` waits for the owner: go on asking, or withdraw it.
- ${ONE_AT_A_TIME}
- Errors: \`{"error": {"code", "message", "details", "request_id"}}\`. Act on the code.

## Operations

${rows.map(operationText).join('\n')}

## Error codes

${codes.join('\n')}
`
}

function operationText(row: OperationRow): string {
  const call = `${row.method} ${row.path.replace(/:(\w+)/g, '{$1}')}`
  const tool = row.surface === 'rest-and-mcp' ? ` (tool \`${row.name}\`)` : ''
  const fields = fieldsText(toJsonSchema(row.input, 'input'))
  return `- \`${call}\`${tool}, ${row.permission}: ${row.description}${fields === '' ? '' : ` Takes ${fields}.`}`
}

function fieldsText(schema: JsonSchema): string {
  const required = (schema.required ?? []) as readonly string[]
  return Object.entries((schema.properties ?? {}) as Readonly<Record<string, JsonSchema>>)
    .map(([name, field]) => {
      const note = field.description === undefined ? '' : ` (${String(field.description)})`
      return `${name}${required.includes(name) ? '' : '?'}${note}`
    })
    .join(', ')
}
