import { CATALOGUE } from '../errors/catalogue.js'
import { codeBlock, inline, prose } from './docs-html.js'
import { FAULTS } from './drills.js'

/** Guides of the documentation, which show how the parts of the reference are used together. */

interface Guide {
  /** Anchor of its section. */
  readonly id: string
  readonly title: string
  readonly html: string
}

const KEY = '-H "X-Api-Key: $COUNTERSIGN_API_KEY"'

const FIRST_SEND = [
  prose('A key is bound to one sub-wallet. See what it may spend, and from which address:'),
  codeBlock(
    `curl -s "$COUNTERSIGN_URL/api/limits" ${KEY}\ncurl -s "$COUNTERSIGN_URL/api/wallet/address" ${KEY}`,
  ),
  prose(
    'Try what you mean to send: `simulate` takes the same body, signs nothing and spends nothing. It tells whether the call succeeds, what it moves, what it counts as in USD and whether the caps allow it.',
  ),
  codeBlock(
    `curl -s "$COUNTERSIGN_URL/api/tx/simulate" ${KEY} \\\n  -H "Content-Type: application/json" \\\n  -d '{"chain_id":8453,"to":"0x000000000000000000000000000000000000dEaD","value":"1000000000000000"}'`,
  ),
  prose(
    'Then send. Give each payment that you intend one `Idempotency-Key`, and use it again when you repeat the request: the same key is the same payment.',
  ),
  codeBlock(
    `curl -s "$COUNTERSIGN_URL/api/tx/send" ${KEY} \\\n  -H "Content-Type: application/json" -H "Idempotency-Key: invoice-1" \\\n  -d '{"chain_id":8453,"to":"0x000000000000000000000000000000000000dEaD","value":"1000000000000000"}'`,
  ),
  prose(
    '`200` with `broadcast`: a node has it. `202` with `signed`: it is stored and the service goes on, so do not send it again. Ask for it until it is `confirmed`, `failed` or `dropped`, or register a webhook:',
  ),
  codeBlock(`curl -s "$COUNTERSIGN_URL/api/tx/$TX_ID" ${KEY}`),
]

const TRANSFER_BY_CLIENT = `import { createClient } from 'countersign/client'

const wallet = createClient({
  url: process.env.COUNTERSIGN_URL ?? 'http://127.0.0.1:8080',
  apiKey: process.env.COUNTERSIGN_API_KEY,
})
const sent = await wallet.transfer(
  { chain: 'base', token: 'USDC', to: '0x000000000000000000000000000000000000dEaD', amount: '5' },
  { idempotencyKey: 'invoice-2' },
)
console.log(sent.tx_id, sent.status)`

const SEND_USDC = [
  prose(
    'USDC, like every ERC-20 token, moves by a call of its contract. The command line and the client library take the token by its symbol and the amount in its units, and write the call for you:',
  ),
  codeBlock(
    'countersign send --token USDC --amount 5 --chain base \\\n  --to 0x000000000000000000000000000000000000dEaD --idempotency-key invoice-2 --wait',
  ),
  codeBlock(TRANSFER_BY_CLIENT),
  prose(
    'By REST or MCP you write the call yourself. `to` is the contract of the token, which `GET /api/wallet/token-balances` lists with its decimals; `value` is `"0"`; `data` is `0xa9059cbb`, then the address of the recipient and the amount in the smallest unit, each as 64 hexadecimal digits with zeros on the left. 5 USDC with 6 decimals are `5000000`, in hexadecimal `4c4b40`:',
  ),
  codeBlock(
    [
      `USDC=$(curl -s "$COUNTERSIGN_URL/api/wallet/token-balances?chain_id=8453" ${KEY} \\`,
      `  | sed 's/.*"token":"\\(0x[0-9a-fA-F]*\\)","symbol":"USDC".*/\\1/')`,
      `curl -s "$COUNTERSIGN_URL/api/tx/send" ${KEY} \\`,
      '  -H "Content-Type: application/json" -H "Idempotency-Key: invoice-3" \\',
      `  -d '{"chain_id":8453,"to":"'$USDC'","value":"0","data":"0xa9059cbb000000000000000000000000000000000000000000000000000000000000dead00000000000000000000000000000000000000000000000000000000004c4b40"}'`,
    ].join('\n'),
  ),
]

const VERIFY_BY_CLIENT = `import { verifyWebhook } from 'countersign/client'

const delivered = new Set<string>() // keep these in your database

export async function receive(request: Request): Promise<Response> {
  const event = await verifyWebhook({
    body: await request.text(), // as it came: parsed and serialized again, it does not verify
    headers: request.headers,
    secret: process.env.COUNTERSIGN_WEBHOOK_SECRET ?? '',
  })
  if (!delivered.has(event.eventId)) console.log(event.type, event.data)
  delivered.add(event.eventId) // an event may be delivered twice
  return new Response(null, { status: 204 })
}`

const VERIFY_BY_HAND = `import { createHmac, timingSafeEqual } from 'node:crypto'

function isGenuine(headers, body, secret) {
  const id = headers['webhook-id']
  const timestamp = headers['webhook-timestamp']
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) return false
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const wanted = createHmac('sha256', key).update(\`\${id}.\${timestamp}.\${body}\`).digest()
  return headers['webhook-signature'].split(' ').some((signature) => {
    const given = Buffer.from(signature.replace(/^v1,/, ''), 'base64')
    return given.length === wanted.length && timingSafeEqual(given, wanted)
  })
}`
  .replaceAll('\\`', '`')
  .replaceAll('\\${', '${')

const WEBHOOKS = [
  prose(
    'An endpoint is registered with a console token; its secret (`whsec_…`) is shown once. Without a filter it gets `transaction.confirmed`, `transaction.failed` and `transaction.dropped`. URLs must be https and public, unless the operator allows others.',
  ),
  codeBlock('countersign webhooks create https://example.com/hooks/countersign'),
  prose(
    'Deliveries come at least once, in order for each sub-wallet and chain, and are signed as Standard Webhooks are. Check each before you believe it, with the client library:',
  ),
  codeBlock(VERIFY_BY_CLIENT),
  prose('or by hand:'),
  codeBlock(VERIFY_BY_HAND),
  prose(
    'Answer 2xx within 10 seconds and work afterwards. What fails is tried again for about a day and a half; after an outage, `GET /api/v1/agent/events?after=` reads the log without gaps.',
  ),
]

const MCP_HOST = JSON.stringify(
  {
    mcpServers: {
      countersign: {
        url: 'https://wallet.example.com/mcp',
        headers: { 'X-Api-Key': `\${env:COUNTERSIGN_API_KEY}` },
      },
    },
  },
  null,
  2,
)

const MCP = [
  prose(
    '`/mcp` speaks Streamable HTTP, protocol 2025-03-26 to 2026-07-28, without sessions: `X-Api-Key`, or `Authorization: Bearer` with the same key, comes with each request. Tools take what the REST request takes and answer what it answers; write tools take an `idempotency_key` besides. A host that takes URLs and headers is configured like this:',
  ),
  codeBlock(MCP_HOST),
  prose(
    'Refusals are results with `isError` and the error body of REST as text, so that a model can read the code and act. A key with permission `read` sees the tools that write, and is refused when it calls one.',
  ),
]

function errorsTable(): string {
  const rows = Object.entries(CATALOGUE).map(
    ([code, { status, message, retryable }]) =>
      `<tr><td><code>${code}</code></td><td>${status}</td><td>${inline(message)}</td><td>${retryable ? 'yes' : ''}</td></tr>`,
  )
  return `<div class="scroll" tabindex="0"><table><tr><th>Code</th><th>Status</th><th>What to do</th><th>Wait and repeat</th></tr>${rows.join('')}</table></div>`
}

const ERROR_EXAMPLE = JSON.stringify(
  {
    error: {
      code: 'INSUFFICIENT_FUNDS',
      message:
        'The sub-wallet has 1000000 of the 1500000 that this call needs (token 0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913).',
      details: {
        token: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
        have: '1000000',
        need: '1500000',
      },
      request_id: '2f6c1e0b8a7d4c53b1e09f8a7c6d5e4f',
    },
  },
  null,
  2,
)

const FAULT_ROWS = Object.entries(FAULTS).map(
  ([fault, words]) => `<tr><td><code>${fault}</code></td><td>${inline(words)}</td></tr>`,
)

const TRYING_FAULTS = [
  prose(
    'With a `sk_test_…` key a write may say what is to go wrong with it, in the header `Countersign-Fault`, by REST and by MCP. It meets that one call and nobody else; caps, nonces and idempotency hold as ever. A live service refuses the header.',
  ),
  codeBlock(
    `curl -s "$COUNTERSIGN_URL/api/tx/send" ${KEY} \\\n  -H "Content-Type: application/json" -H "Countersign-Fault: dropped-broadcast" \\\n  -d '{"chain_id":8453,"to":"0x000000000000000000000000000000000000dEaD","value":"1"}'`,
  ),
  `<div class="scroll" tabindex="0"><table><tr><th>Fault</th><th>What happens</th></tr>${FAULT_ROWS.join('')}</table></div>`,
  prose(
    'Swaps, deposits, withdrawals and gas swaps take the last three alone: a gas wallet sends them, and other calls wait behind. No node, chain or process is really touched; after a restart of the service nothing of a fault is left.',
  ),
]

const ERRORS = [
  prose(
    'Every error has one body. Act on `code`, show `message`, log `request_id`. `details` holds what a program can use: the path of a field and what would be right, a cap with its reset, what a wallet has and what a call needs.',
  ),
  codeBlock(ERROR_EXAMPLE),
  prose(
    'Where waiting can help, the same request may be repeated, writes with the same `Idempotency-Key`. `Retry-After` says for how long where that is known. A time-out of your own, or `OUTCOME_UNKNOWN`, says nothing about the payment: repeat it with its key, and hear how it ended.',
  ),
  errorsTable(),
]

const LIVE = [
  prose(
    'A live service takes `sk_live_…` keys and runs as three processes on hosts of their own choosing; its operator invites users. A user signs in from the command line, adds an authorizer that confirms what keys may do, and makes a wallet and a key:',
  ),
  codeBlock(
    [
      'export COUNTERSIGN_URL=https://wallet.example.com',
      'countersign login',
      'countersign authorizer create',
      'countersign wallets create research',
      'countersign keys create bot --wallet sw_… --permission trade --daily 100 --monthly 1000 --chains 8453',
    ].join('\n'),
  ),
  prose(
    'The key is shown once. Send funds to the address of the wallet, which is the same on every chain, and go on with the first send. Caps hold for a key and its rotations together; enlarging one takes the authorizer, narrowing or revoking one does not.',
  ),
]

export const GUIDES: readonly Guide[] = [
  { id: 'first-send', title: 'First send', html: FIRST_SEND.join('') },
  { id: 'send-usdc', title: 'Send USDC', html: SEND_USDC.join('') },
  { id: 'webhooks', title: 'Webhooks', html: WEBHOOKS.join('') },
  { id: 'mcp', title: 'MCP', html: MCP.join('') },
  { id: 'errors', title: 'Errors', html: ERRORS.join('') },
  { id: 'faults', title: 'Faults to try', html: TRYING_FAULTS.join('') },
  { id: 'live', title: 'Live', html: LIVE.join('') },
]
