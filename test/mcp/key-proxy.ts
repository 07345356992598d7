import { createServer, request } from 'node:http'
import { TRADE_SECRET } from '../http/harness.js'

export interface KeyProxy {
  readonly url: string
  readonly close: () => Promise<void>
}

/** Passes everything on as it is, with an API key, to clients that can send no header of their own. */
export async function startKeyProxy(target: URL): Promise<KeyProxy> {
  const server = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, 'x-api-key': TRADE_SECRET }
    const onward = request(target, { method: incoming.method ?? 'GET', headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    onward.on('error', () => outgoing.destroy())
    outgoing.on('close', () => onward.destroy())
    incoming.pipe(onward)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the proxy has no port')
  return {
    url: `http://127.0.0.1:${address.port}/mcp`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
