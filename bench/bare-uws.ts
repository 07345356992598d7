import { createApp } from '../src/http/uws.js'

/**
 * A yardstick for reads: uWebSockets.js answers every request with the same small JSON object, in a
 * separate process. Sends `{ type: 'ready', port }` to its parent.
 */
const ANSWER = JSON.stringify({ daily_limit_usd: '1000', daily_used_usd: '0', resets_at: null })

const app = createApp()
app.any('/*', (res) => {
  res.writeHeader('content-type', 'application/json').end(ANSWER)
})
const listener = await app.listen('127.0.0.1', 0)

function stop(): void {
  listener.close()
  process.exit(0)
}
for (const signal of ['SIGTERM', 'SIGINT', 'disconnect'] as const) process.on(signal, stop)
process.send?.({ type: 'ready', port: listener.port })
