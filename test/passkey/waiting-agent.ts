import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { newAddress } from '../e2e/chain.js'
import type { Stack } from '../e2e/stack.js'

/**
 * An agent whose payments wait for a person, and what it has of them: a client of the protocol's
 * own package, which is asked to show the page.
 */
export interface WaitingAgent {
  /**
   * @param show what its user does with the page, while the call waits; it goes on after it
   * @returns the record that the call is answered with
   */
  pay(wei: string, show: (url: string) => Promise<void>): Promise<TransactionRecord>
  status(txId: string): Promise<TransactionRecord>
  close(): Promise<void>
}

interface TransactionRecord {
  readonly tx_id: string
  readonly status: string
  readonly tx_hash: string | null
  readonly error?: { readonly message: string } | null
}

const CHAIN_ID = 8453
const VERSION = '2026-07-28'
/** People take longer than a client waits by default. */
const CALL_MS_MAX = 180_000

export async function connectAgent({ service }: Stack, secret: string): Promise<WaitingAgent> {
  const client = new Client(
    { name: 'agent', version: '1' },
    {
      capabilities: { elicitation: { url: {} } },
      versionNegotiation: { mode: { pin: VERSION } },
    },
  )
  let shows: (url: string) => Promise<void> = async () => {}
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    if (params.mode !== 'url') throw new Error('a form is no proof of a person')
    await shows(params.url)
    return { action: 'accept' }
  })
  const url = new URL('/mcp', service.dev().base_url)
  const requestInit = { headers: { 'X-Api-Key': secret } }
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }))

  async function call(name: string, input: Readonly<Record<string, unknown>>) {
    const params = { name, arguments: input }
    const answer = await client.callTool(params, { timeout: CALL_MS_MAX })
    if (answer.isError === true) throw new Error(JSON.stringify(answer.content))
    return answer.structuredContent as unknown as TransactionRecord
  }

  return {
    pay(wei, show) {
      shows = show
      return call('send_transaction', { chain_id: CHAIN_ID, to: newAddress(), value: wei })
    },
    status: (txId) => call('get_transaction_status', { tx_id: txId }),
    close: () => client.close(),
  }
}
