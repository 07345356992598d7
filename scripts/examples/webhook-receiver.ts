import { createServer, type IncomingMessage } from 'node:http'
import { WebhookVerificationError } from '../../src/client/errors.js'
import { verifyWebhook } from '../../src/client/verify-webhook.js'

/**
 * A receiver of webhooks: verifies each delivery, handles each event once, and answers fast.
 *
 *   WEBHOOK_SECRET=whsec_… PORT=9000 node dist/scripts/examples/webhook-receiver.js
 *
 * Deliveries come at least once, so the ids seen are kept; a real receiver keeps them in its
 * database, in the transaction that acts on the event.
 */

const BODY_BYTES_MAX = 1024 * 1024
const SEEN_MAX = 100_000

const { WEBHOOK_SECRET = '', PORT = '0' } = process.env
const seen = new Set<string>()

const server = createServer(async (request, response) => {
  try {
    const body = await readBody(request)
    const event = await verifyWebhook({ body, headers: request.headers, secret: WEBHOOK_SECRET })
    if (seen.has(event.eventId)) console.log(`again: ${event.eventId}`)
    else console.log(`${event.type} ${event.eventId} ${JSON.stringify(event.data)}`)
    remember(event.eventId)
    response.writeHead(204).end()
  } catch (error) {
    const status = error instanceof WebhookVerificationError ? 401 : 500
    console.log(`refused: ${error instanceof Error ? error.message : String(error)}`)
    response.writeHead(status).end()
  }
})

server.listen(Number(PORT), '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object' && address !== null) console.log(`listening on ${address.port}`)
})
process.once('SIGTERM', () => server.close())

function remember(eventId: string): void {
  const [oldest] = seen
  if (seen.size >= SEEN_MAX && oldest !== undefined) seen.delete(oldest)
  seen.add(eventId)
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength
    if (bytes > BODY_BYTES_MAX) throw new Error('the body is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
