import { createServer, type Server } from 'node:net'

/**
 * Ports for processes that cannot take just any port, since they must find the same one again after
 * a restart. A check that a port is free proves nothing a moment later, so each test process has
 * its own range, whatever else runs on the machine, including another run of these tests. It
 * listens on the range's first port for as long as it lives. The ranges lie below those that
 * systems use for connections and for port 0 (32768 and up on Linux, 49152 on macOS).
 */
const FIRST_RANGE = 20_000
const RANGE_PORTS = 100
const RANGES = 120

interface Range {
  readonly first: number
  /** How many of its ports were handed out; then they come again. */
  handedOut: number
  /** Kept, so that the range stays taken. */
  readonly holder: Server
}

/** One range a process, though each test file has modules of its own. */
const RANGE = Symbol.for('countersign.test-ports')
const holder = globalThis as { [RANGE]?: Promise<Range> }

/** Returns a port on which nothing listens, and which no other test process is given. */
export async function freePort(): Promise<number> {
  holder[RANGE] ??= takeRange()
  const range = await holder[RANGE]
  for (let tries = 1; tries < RANGE_PORTS; tries++) {
    const port = range.first + 1 + (range.handedOut++ % (RANGE_PORTS - 1))
    const probe = await listenOn(port)
    if (probe === null) continue
    await new Promise((resolve) => probe.close(resolve))
    return port
  }
  throw new Error(`no port is free from ${range.first} to ${range.first + RANGE_PORTS - 1}`)
}

async function takeRange(): Promise<Range> {
  // Processes that start together begin at different ranges.
  for (let tries = 0; tries < RANGES; tries++) {
    const first = FIRST_RANGE + ((process.pid + tries) % RANGES) * RANGE_PORTS
    const server = await listenOn(first)
    if (server === null) continue
    server.unref()
    return { first, handedOut: 0, holder: server }
  }
  throw new Error('every range of ports is taken')
}

/** @returns null when something listens there */
function listenOn(port: number): Promise<Server | null> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy())
    server.once('error', () => resolve(null))
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => resolve(server))
  })
}
