import { Client, type Progress, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

/**
 * What an agent's host does over MCP: lists the tools, reads, then swaps and deposits with
 * idempotency keys and progress while the service pays the gas, and follows each call to its end.
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

const { tokens } = await call('get_token_balances', { chain_id: BASE })
const usdc = addressOf(tokens, 'USDC')
const quote = await call('get_swap_quote', {
  chain_id: BASE,
  token_in: usdc,
  token_out: addressOf(tokens, 'WETH'),
  amount_in: '2000000',
})
console.log(`quote: ${quote.amount_out} WETH for 2 USDC, fee ${quote.fee_amount} of it`)
await follow('swap', 'execute_swap', {
  quote_id: quote.quote_id,
  idempotency_key: 'example-swap-1',
})

const { markets } = await call('get_defi_markets', { chain_id: BASE })
const market = rows(markets).find(({ asset }) => asset === usdc)
if (market === undefined) throw new Error('no market takes USDC')
await follow('deposit', 'defi_deposit', {
  chain_id: BASE,
  market_id: market.market_id,
  amount: '1000000',
  idempotency_key: 'example-deposit-1',
})
const { positions } = await call('get_positions', { chain_id: BASE })
for (const { market_id, shares, usd_value } of rows(positions)) {
  console.log(`position: ${shares} shares of ${market_id}, worth ${usd_value} USD`)
}
await client.close()

/** Calls a tool that moves funds, and waits for the end. */
async function follow(what: string, tool: string, args: Record<string, unknown>): Promise<void> {
  let record = await call(tool, args)
  const { tx_id } = record
  console.log(`${what} sent: ${tx_id}`)
  while (!['confirmed', 'failed', 'dropped'].includes(String(record.status))) {
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    record = await call('get_transaction_status', { tx_id })
  }
  console.log(`${what} final: ${record.status}`)
}

function rows(list: unknown): Record<string, unknown>[] {
  return Array.isArray(list) ? list : []
}

function addressOf(tokens: unknown, symbol: string): unknown {
  const token = rows(tokens).find((row) => row.symbol === symbol)?.token
  if (token === undefined) throw new Error(`the wallet's chain has no ${symbol}`)
  return token
}

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
