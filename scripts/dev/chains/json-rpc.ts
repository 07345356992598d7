/** Plain JSON-RPC over HTTP, for the few methods of anvil that no typed client supports. */
const REQUEST_TIMEOUT_MS = 30_000

export interface RpcCall {
  readonly method: string
  readonly params?: readonly unknown[]
}

export class RpcError extends Error {
  override readonly name = 'RpcError'
}

/** @throws RpcError when the node answers with an error; otherwise as fetch */
export async function rpc(url: string, method: string, params: readonly unknown[] = []) {
  const [result] = await rpcBatch(url, [{ method, params }])
  return result
}

/** One HTTP request; results in the order of the calls. */
export async function rpcBatch(url: string, calls: readonly RpcCall[]): Promise<unknown[]> {
  const body = calls.map(({ method, params = [] }, id) => ({ jsonrpc: '2.0', id, method, params }))
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  })
  const answers: unknown = await response.json()
  const byId = new Map<number, unknown>()
  for (const answer of Array.isArray(answers) ? answers : []) {
    if (answer?.error) throw new RpcError(`${url}: ${String(answer.error.message)}`)
    byId.set(answer?.id, answer?.result)
  }
  return calls.map((call, id) => {
    if (!byId.has(id)) throw new RpcError(`${url}: no answer to ${call.method}`)
    return byId.get(id)
  })
}
