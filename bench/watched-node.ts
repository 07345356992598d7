import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * A stub of a JSON-RPC node, in a separate process: blocks with the hashes that it is told,
 * receipts for those, and nonces of zero. The watcher's cost is measured against it, so it answers
 * at once and does nothing else.
 */
export type ToNode =
  | { readonly type: 'mine'; readonly hashes: readonly string[] }
  | { readonly type: 'count' }

export type FromNode =
  | { readonly type: 'ready'; readonly port: number }
  | { readonly type: 'counted'; readonly counts: NodeCounts }

export interface NodeCounts {
  readonly httpRequests: number
  /** JSON-RPC calls by method, since the start. */
  readonly calls: Readonly<Record<string, number>>
}

interface Call {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
}

const HEX_GWEI = '0x3b9aca00'
const BLOCK_GAS_LIMIT = '0x3938700'
const CHAIN_ID = `0x${Number(process.argv[2]).toString(16)}`

const hashOf = (n: number): string =>
  `0x${createHash('sha256').update(`${CHAIN_ID}:${n}`).digest('hex')}`
const quantity = (n: number): string => `0x${n.toString(16)}`

const blocks: (readonly string[])[] = [[]]
const blockOf = new Map<string, number>()
const calls: Record<string, number> = {}
let httpRequests = 0

function block(tag: unknown): object | null {
  const number = tag === 'latest' ? blocks.length - 1 : Number(tag)
  const transactions = blocks[number]
  if (transactions === undefined) return null
  return {
    number: quantity(number),
    hash: hashOf(number),
    parentHash: hashOf(number - 1),
    timestamp: quantity(number),
    baseFeePerGas: HEX_GWEI,
    gasLimit: BLOCK_GAS_LIMIT,
    transactions,
  }
}

function receipt(hash: unknown): object | null {
  const number = blockOf.get(String(hash))
  if (number === undefined) return null
  return {
    transactionHash: hash,
    blockNumber: quantity(number),
    blockHash: hashOf(number),
    status: '0x1',
    gasUsed: '0x5208',
    effectiveGasPrice: HEX_GWEI,
    logs: [],
  }
}

function answer({ id, method, params }: Call): object {
  calls[method] = (calls[method] ?? 0) + 1
  const result = (value: unknown) => ({ jsonrpc: '2.0', id, result: value })
  switch (method) {
    case 'eth_chainId':
      return result(CHAIN_ID)
    case 'eth_getBlockByNumber':
      return result(block(params[0]))
    case 'eth_getTransactionReceipt':
      return result(receipt(params[0]))
    case 'eth_getTransactionCount':
      return result('0x0')
    case 'eth_feeHistory':
      return result({
        baseFeePerGas: [HEX_GWEI, HEX_GWEI],
        gasUsedRatio: [0.5],
        reward: [[HEX_GWEI]],
      })
    default:
      return { jsonrpc: '2.0', id, error: { code: -32601, message: `no method ${method}` } }
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

const server = createServer((request, response) => {
  httpRequests++
  bodyOf(request).then(
    (body) => {
      const asked = JSON.parse(body) as Call | Call[]
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(Array.isArray(asked) ? asked.map(answer) : answer(asked)))
    },
    () => response.destroy(),
  )
})

const tell = (message: FromNode) => process.send?.(message)
process.on('message', (message: ToNode) => {
  if (message.type === 'count') {
    tell({ type: 'counted', counts: { httpRequests, calls: { ...calls } } })
    return
  }
  for (const hash of message.hashes) blockOf.set(hash, blocks.length)
  blocks.push(message.hashes)
})
process.on('disconnect', () => process.exit(0))
server.listen(0, '127.0.0.1', () => {
  tell({ type: 'ready', port: (server.address() as AddressInfo).port })
})
