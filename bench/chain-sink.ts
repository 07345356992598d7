import { createApp } from '../src/http/uws.js'
import { createAnswerCall, type SinkCall, sinkMethods } from './sink/answers.js'
import { createSinkBlocks } from './sink/blocks.js'
import { createSinkNonces } from './sink/senders.js'

/**
 * A chain that is never the bottleneck: a process with a node's JSON-RPC (single calls and batches,
 * `POST /`) that accepts every raw transaction and mines it within `SINK_BLOCK_MS`. It hashes
 * transactions but verifies nothing; `GET /raw` returns the newest ones.
 *
 * Environment: SINK_CHAIN_ID, SINK_BLOCK_MS. Sends `{ type: 'ready', port }` to its parent.
 */
const chainId = Number(process.env.SINK_CHAIN_ID ?? 8453)
const blockMs = Number(process.env.SINK_BLOCK_MS ?? 250)

const blocks = createSinkBlocks(chainId)
const answer = createAnswerCall(
  sinkMethods(
    chainId,
    blocks,
    createSinkNonces(() => blocks.recentRaw()),
  ),
)

const app = createApp()
app.post('/*', (res) => {
  let open = true
  let chunks: Buffer[] = []
  res.onAborted(() => {
    open = false
  })
  res.onData((chunk, isLast) => {
    // A copy, because uWebSockets.js reuses a chunk's memory once this returns.
    if (!isLast || chunks.length > 0) chunks.push(Buffer.from(Buffer.from(chunk)))
    if (!isLast || !open) return
    const body = chunks.length > 0 ? Buffer.concat(chunks) : Buffer.from(chunk)
    chunks = []
    const said = JSON.parse(body.toString('utf8')) as SinkCall | readonly SinkCall[]
    const text = Array.isArray(said) ? `[${said.map(answer).join(',')}]` : answer(said as SinkCall)
    res.cork(() => {
      res.writeHeader('content-type', 'application/json').end(text)
    })
  })
})
app.get('/stats', (res) => {
  res.end(JSON.stringify({ accepted: blocks.accepted, height: blocks.height }))
})

app.get('/raw', (res) => {
  res.end(JSON.stringify(blocks.recentRaw()))
})

const listener = await app.listen('127.0.0.1', 0)
const timer = setInterval(() => blocks.mine(), blockMs)

function stop(): void {
  clearInterval(timer)
  listener.close()
  process.exit(0)
}
for (const signal of ['SIGTERM', 'SIGINT', 'disconnect'] as const) process.on(signal, stop)
process.send?.({ type: 'ready', port: listener.port })
