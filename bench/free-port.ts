import { createServer } from 'node:net'

/**
 * Below the ports that systems use for connections and for port 0 (32768 and up on Linux, 49152 on
 * macOS), because some seconds pass until the port is used, and a restart uses it again.
 */
const FIRST = 10_000
const COUNT = 10_000
const TRIES_MAX = 100

/** A TCP port of this machine on which nothing listens. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const port = FIRST + Math.floor(Math.random() * COUNT)
    if (await isFree(port)) return port
  }
  throw new Error('no port')
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      server.close(() => resolve(true))
    })
  })
}
