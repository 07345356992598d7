import { connect, createServer, type Socket } from 'node:net'
import { freePort } from '../support/ports.js'

/**
 * A wire between two machines, of TCP. While it is cut nothing passes either way and nobody is told: what
 * was sent arrives once it is whole again, as of packets that are repeated until they come through.
 */
export interface Wire {
  readonly port: number
  cut(): void
  mend(): void
  close(): Promise<void>
}

/** @param ports of who may listen at its other end, of which the first that does is reached */
export async function layWire(ports: readonly number[]): Promise<Wire> {
  const sockets = new Set<Socket>()
  const waiting = new Set<Socket>()
  let isCut = false

  function keep(socket: Socket): void {
    sockets.add(socket)
    if (isCut) socket.pause()
    socket.on('close', () => {
      sockets.delete(socket)
      waiting.delete(socket)
    })
    socket.on('error', () => socket.destroy())
  }

  function reach(near: Socket, at: number): void {
    const port = ports[at]
    if (port === undefined || near.destroyed) return void near.destroy()
    const far = connect(port, '127.0.0.1')
    far.once('error', () => reach(near, at + 1))
    far.once('connect', () => {
      far.removeAllListeners('error')
      keep(far)
      near.on('data', (piece) => void far.write(piece))
      far.on('data', (piece) => void near.write(piece))
      near.on('end', () => far.end())
      far.on('end', () => near.end())
      near.on('close', () => far.destroy())
      far.on('close', () => near.destroy())
      // It was paused when it came, so that nothing of it is lost before there is another end.
      if (isCut) far.pause()
      else near.resume()
    })
  }

  const server = createServer({ pauseOnConnect: true, allowHalfOpen: true }, (near) => {
    near.setNoDelay(true)
    keep(near)
    if (isCut) waiting.add(near)
    else reach(near, 0)
  })
  const port = await freePort()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    port,
    cut() {
      isCut = true
      for (const socket of sockets) socket.pause()
    },
    mend() {
      isCut = false
      for (const near of waiting) reach(near, 0)
      waiting.clear()
      for (const socket of sockets) socket.resume()
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
