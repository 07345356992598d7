import { Client, type Progress, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

/**
 * What an agent's host does over MCP: lists the tools, reads, sends under an idempotency key with
 * progress, and follows the transaction.
 *
 *   COUNTERSIGN_URL=… COUNTERSIGN_API_KEY=… node dist/scripts/examples/mcp-agent.js
 */

const BASE = 8453
const { COUNTERSIGN_URL = 'http://127.0.0.1:8080', COUNTERSIGN_API_KEY = '' } = process.env

const client = new Client(
  { name: 'example-agent', version: '1.0.0' },
  { versionNegotiation: { mode: 'auto' } },
)
await client.connect(
  new StreamableHTTPClientTransport(new URL('/mcp', COUNTERSIGN_URL), {
    requestInit: { headers: { 'X-Api-Key': COUNTERSIGN_API_KEY } },
  }),
)

const { tools } = await client.listTools()
console.log(`${tools.length} tools: ${tools.map(({ name }) => name).join(', ')}`)

const balance = await call('get_native_balance', { chain_id: BASE })
console.log(`balance: ${balance.balance} wei`)

const sent = await call('send_transaction', {
  chain_id: BASE,
  to: '0x00000000000000000000000000000000000000A1',
  value: '1000000000000',
  idempotency_key: 'example-payment-1',
})
console.log(`sent: ${sent.tx_id}`)

let record = sent
while (!['confirmed', 'failed', 'dropped'].includes(String(record.status))) {
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  record = await call('get_transaction_status', { tx_id: sent.tx_id })
}
console.log(`final: ${record.status}`)
await client.close()

/** @throws Error with the service's code and sentence when the tool refuses */
async function call(name: string, args: Record<string, unknown>): Promise<Record<string, unknown>> {
  const onprogress = ({ message = '' }: Progress) => console.log(`  … ${message}`)
  const result = await client.callTool({ name, arguments: args }, { onprogress })
  if (result.isError !== true) return result.structuredContent as Record<string, unknown>
  const [content] = result.content
  const text = content?.type === 'text' ? content.text : '{}'
  const { error } = JSON.parse(text) as { error: { code: string; message: string } }
  throw new Error(`${error.code}: ${error.message}`)
}
