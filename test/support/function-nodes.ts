import { createRpcClient } from '../../src/chains/rpc/client.js'
import type { RpcClient } from '../../src/chains/rpc/types.js'

export interface AskedCall {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

/** What a node answers to one call. */
export type Said =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string; readonly data?: unknown } }

export interface FunctionNodes {
  readonly client: RpcClient
  /** The methods that a node was called with, without `eth_chainId`. */
  asked(node: number): readonly string[]
}

/** A client whose endpoints are functions from a call to its answer. */
export function functionNodes(
  chainId: number,
  ...nodes: readonly ((call: AskedCall) => Said)[]
): FunctionNodes {
  const asked = nodes.map((): string[] => [])
  const client = createRpcClient({
    chainId,
    endpoints: nodes.map((_, i) => `http://node-${i}`),
    transportTo: (url) => ({
      async post(body) {
        const at = Number(new URL(url).hostname.slice('node-'.length))
        const parsed: AskedCall | AskedCall[] = JSON.parse(body)
        const answer = (call: AskedCall) => {
          if (call.method === 'eth_chainId') {
            return { jsonrpc: '2.0', id: call.id, result: `0x${chainId.toString(16)}` }
          }
          asked[at]?.push(call.method)
          return { jsonrpc: '2.0', id: call.id, ...nodes[at]?.(call) }
        }
        const text = JSON.stringify(Array.isArray(parsed) ? parsed.map(answer) : answer(parsed))
        return { status: 200, retryAfter: undefined, text }
      },
      close: () => Promise.resolve(),
    }),
  })
  return { client, asked: (node) => asked[node] ?? [] }
}
