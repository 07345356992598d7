/**
 * Whether the process of this container answers: exit code 0 or 1.
 *
 *   node healthy.mjs run/<name>.sock    a socket of the home takes a connection
 *   node healthy.mjs /healthz           the service answers this path, on loopback
 */
import { connect } from 'node:net'
import { join } from 'node:path'

const TIMEOUT_MS = 4_000
const { COUNTERSIGN_HOME = '/var/lib/countersign', PORT } = process.env
const [target = ''] = process.argv.slice(2)

if (target.startsWith('/')) {
  const url = `http://127.0.0.1:${PORT || '8080'}${target}`
  const answer = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) }).catch(() => null)
  process.exit(answer?.ok === true ? 0 : 1)
}
const socket = connect(join(COUNTERSIGN_HOME, target))
socket.setTimeout(TIMEOUT_MS, () => process.exit(1))
socket.once('error', () => process.exit(1))
socket.once('connect', () => process.exit(0))
