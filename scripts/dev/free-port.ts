import { createServer } from 'node:net'

const PORT_MAX = 65_535

/** True when nothing listens there. */
export function isPortFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)))
  })
}

/**
 * The first free port from `start` on.
 * @param taken ports spoken for, though nothing listens on them yet; gains the result
 */
export async function claimPort(start: number, taken: Set<number>): Promise<number> {
  for (let port = start; port <= PORT_MAX; port++) {
    if (taken.has(port)) continue
    // Claimed before the check, so that concurrent callers do not check the same port.
    taken.add(port)
    if (await isPortFree(port)) return port
  }
  throw new Error(`no free port from ${start} on`)
}

/** Another process may take a port between check and use; each attempt uses the next one. */
const PORT_TRIES_MAX = 20

/**
 * Starts something on the first port from `preferred` on that is free and stays free.
 * @throws what `start` throws, unless the port was taken in between
 */
export async function startOnFreePort<T>(
  preferred: number,
  claimed: Set<number>,
  start: (port: number) => Promise<T>,
): Promise<T> {
  let from = preferred
  for (let tries = 1; ; tries++) {
    const port = await claimPort(from, claimed)
    try {
      return await start(port)
    } catch (error) {
      if (tries === PORT_TRIES_MAX || (await isPortFree(port))) throw error
      from = port + 1
    }
  }
}
