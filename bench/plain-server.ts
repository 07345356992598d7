import { createHash, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import fastify from 'fastify'
import { type Address, createPublicClient, http, keccak256, parseGwei } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { createNonceManager, jsonRpc } from 'viem/nonce'
import { openPlainLedger } from './plain-ledger.js'
import { SINK_CHAIN } from './sink-chains.js'

/**
 * The plain server, a yardstick: what a competent team would write for the same request in a week
 * without this project. One process, one key in its memory, caps and idempotent signing by SQLite,
 * signed bytes durable before they are sent, cached fees and prices, batched RPC calls. No
 * screening, no second key, no lanes, no recovery of lost nonces.
 *
 * Environment: RPC_URL, PLAIN_DIRECTORY (for its database), PLAIN_KEYS (the number of API keys to
 * issue). Sends `{ type: 'ready', port, secrets }` to its parent.
 */
const GAS = 21_000n
const ETH_MICROS = 3_000_000_000n
const WEI_PER_ETH = 10n ** 18n
const FEES_MAX_AGE_MS = 10_000
const TIP_WEI = parseGwei('0.001')

const ledger = openPlainLedger(join(process.env.PLAIN_DIRECTORY ?? '.', 'ledger.db'))
const secrets = Array.from({ length: Number(process.env.PLAIN_KEYS ?? 64) }, () => {
  const secret = `sk_test_${randomBytes(16).toString('hex')}`
  ledger.addKey(hashOf(secret))
  return secret
})

const client = createPublicClient({
  // Sends that arrive together are batched, as in the service it is compared with.
  transport: http(process.env.RPC_URL, { batch: { batchSize: 100, wait: 0 } }),
})
const account = privateKeyToAccount(generatePrivateKey())
const nonces = createNonceManager({ source: jsonRpc() })

let fees = { maxFeePerGas: 0n, atMs: Number.NEGATIVE_INFINITY }

async function maxFeePerGas(): Promise<bigint> {
  if (performance.now() - fees.atMs < FEES_MAX_AGE_MS) return fees.maxFeePerGas
  const { baseFeePerGas } = await client.getBlock({ blockTag: 'latest' })
  fees = { maxFeePerGas: (baseFeePerGas ?? 0n) * 2n + TIP_WEI, atMs: performance.now() }
  return fees.maxFeePerGas
}

interface SendBody {
  readonly chain_id: number
  readonly to: Address
  readonly value: string
}

const app = fastify({ logger: false })

app.post<{ Body: SendBody }>(
  '/api/tx/send',
  {
    schema: {
      body: {
        type: 'object',
        required: ['chain_id', 'to'],
        additionalProperties: false,
        properties: {
          chain_id: { const: SINK_CHAIN },
          to: { type: 'string', pattern: '^0x[0-9a-fA-F]{40}$' },
          value: { type: 'string', pattern: '^[0-9]{1,78}$', default: '0' },
        },
      },
    },
  },
  async (request, reply) => {
    const secret = request.headers['x-api-key']
    const keyId = typeof secret === 'string' ? ledger.keyOf(hashOf(secret)) : null
    if (keyId === null) return reply.code(401).send({ error: { code: 'INVALID_KEY' } })
    const { to } = request.body
    const value = BigInt(request.body.value)
    const fee = await maxFeePerGas()
    const micros = ((value + GAS * fee) * ETH_MICROS + WEI_PER_ETH - 1n) / WEI_PER_ETH
    if (!ledger.withinCap(keyId, micros)) {
      return reply.code(403).send({ error: { code: 'LIMIT_EXCEEDED' } })
    }
    const nonce = await nonces.consume({ address: account.address, chainId: SINK_CHAIN, client })
    const raw = await account.signTransaction({
      type: 'eip1559',
      chainId: SINK_CHAIN,
      nonce,
      to,
      value,
      gas: GAS,
      maxFeePerGas: fee,
      maxPriorityFeePerGas: TIP_WEI,
    })
    const txId = `tx_${randomBytes(13).toString('hex')}`
    const txHash = keccak256(raw)
    ledger.store({ txId, keyId, txHash, raw, nonce, micros })
    await client.sendRawTransaction({ serializedTransaction: raw })
    return { tx_id: txId, tx_hash: txHash, chain_id: SINK_CHAIN, status: 'broadcast' }
  },
)

/** Confirms what was mined, once per block. */
const stopWatching = client.watchBlocks({
  pollingInterval: 250,
  onBlock: (block) => ledger.confirm(block.transactions),
})

function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

function stop(): void {
  stopWatching()
  ledger.close()
  process.exit(0)
}
for (const signal of ['SIGTERM', 'SIGINT', 'disconnect'] as const) process.on(signal, stop)

const address = await app.listen({ host: '127.0.0.1', port: 0 })
process.send?.({ type: 'ready', port: Number(new URL(address).port), secrets })
