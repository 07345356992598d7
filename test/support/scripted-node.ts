import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A node of one chain that gives the answers a test wants. */
export interface ScriptedNode {
  readonly url: string
  close(): Promise<void>
}

/** @returns the result; @throws NodeError for an error of the node's */
export type Script = (method: string, params: readonly unknown[]) => unknown

export class NodeError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

interface Call {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
}

/** @param chainId the chain id that it reports */
export async function startScriptedNode(chainId: number, script: Script): Promise<ScriptedNode> {
  function answer({ id, method, params }: Call): object {
    if (method === 'eth_chainId') return { jsonrpc: '2.0', id, result: `0x${chainId.toString(16)}` }
    try {
      return { jsonrpc: '2.0', id, result: script(method, params) }
    } catch (error) {
      if (!(error instanceof NodeError)) throw error
      return { jsonrpc: '2.0', id, error: { code: error.code, message: error.message } }
    }
  }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const calls: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'))
      const answers = Array.isArray(calls) ? calls.map(answer) : answer(calls as Call)
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(answers))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}
