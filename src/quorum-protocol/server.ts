import { mkdirSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { dirname } from 'node:path'
import { CALLS_IN_FLIGHT_MAX, type CallClass } from './call-classes.js'
import { type ConsoleQueue, createConsoleQueue } from './console-queue.js'
import { readFrames, writeFrame } from './frames.js'
import { codeOf, REFUSAL_CODES } from './refusal.js'
import { applySocketAccess, type SocketAccess } from './socket-access.js'

/**
 * Serves calls `[id, method, parameters]` with `[id, 0, result]` or `[id, refusal, detail]` on a
 * Unix socket. Every exception of a handler is answered; a peer cannot end the process.
 */
export type Handlers = Readonly<
  Record<string, (parameters: readonly unknown[], connection: Connection) => unknown>
>

/** One connected peer. */
export interface Connection {
  readonly closed: boolean
  end(): void
}

export interface SocketServer {
  /** Serves a peer that another listener admitted, which bounds their number. */
  serve(socket: Socket): void
  close(): Promise<void>
}

interface SocketServerOptions {
  readonly path: string
  readonly methods: Readonly<Record<string, { readonly callClass: CallClass }>>
  /** By name; `handlersOf` makes them from the methods. */
  readonly handlers: Handlers
  /** By default only the socket's owner. */
  readonly access?: SocketAccess
  /** Called with errors that are not refusals, for the log. */
  readonly onFault: (method: string, error: unknown) => void
  /** Returns what each answer waits for; null for nothing. If it rejects, no answer is sent. */
  readonly settled?: (() => Promise<void> | null) | undefined
}

/** One connection for each worker thread of the service, and some for commands. */
const CONNECTIONS_MAX = 96
/** The bound of a connection's unanswered calls plus one `ping`; more end it. */
const CALLS_PER_CONNECTION_MAX = Object.values(CALLS_IN_FLIGHT_MAX).reduce((sum, n) => sum + n, 1)
/** When a peer does not read this much of its answers, no more of its calls are read. */
const UNTAKEN_BYTES_MAX = 256 * 1024

export async function serveSocket(options: SocketServerOptions): Promise<SocketServer> {
  const sockets = new Set<Socket>()
  const lane = createConsoleQueue()
  const serve = (socket: Socket) => serveConnection(socket, options, lane)
  const server = createServer((socket) => {
    if (sockets.size >= CONNECTIONS_MAX) {
      socket.destroy()
      return
    }
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    serve(socket)
  })
  mkdirSync(dirname(options.path), { recursive: true, mode: 0o700 })
  // A killed process leaves its socket file behind.
  rmSync(options.path, { force: true })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.path, () => {
      server.off('error', reject)
      resolve()
    })
  })
  applySocketAccess(options.path, options.access ?? { groupId: null })
  return {
    serve,
    close() {
      for (const socket of sockets) socket.destroy()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

function serveConnection(
  socket: Socket,
  { methods, handlers, onFault, settled = () => null }: SocketServerOptions,
  lane: ConsoleQueue,
): void {
  let inFlight = 0
  const connection: Connection = {
    get closed() {
      return socket.destroyed
    },
    end: () => void socket.destroy(),
  }

  function waitUntilTaken(): void {
    if (socket.writableLength <= UNTAKEN_BYTES_MAX || socket.isPaused()) return
    socket.pause().once('drain', () => socket.resume())
  }

  async function answer(id: number, method: string, parameters: readonly unknown[]): Promise<void> {
    let reply: unknown
    try {
      const handler = Object.hasOwn(handlers, method) ? handlers[method] : undefined
      if (handler === undefined) reply = [id, REFUSAL_CODES.MALFORMED, 'unknown method']
      else if (methods[method]?.callClass !== 'console')
        reply = [id, 0, (await handler(parameters, connection)) ?? null]
      else reply = [id, 0, (await lane.run(() => handler(parameters, connection))) ?? null]
    } catch (error) {
      const code = codeOf(error)
      if (code === 'INTERNAL') onFault(method, error)
      // Only a refusal's message leaves the process; other errors may contain anything.
      const detail = code === 'INTERNAL' ? 'internal error' : (error as Error).message
      reply = [id, REFUSAL_CODES[code], detail]
    }
    try {
      const settling = socket.destroyed ? null : settled()
      if (settling !== null) await settling
      inFlight--
      if (!socket.destroyed) writeFrame(socket, reply)
      waitUntilTaken()
    } catch (error) {
      onFault(method, error)
      socket.destroy()
    }
  }

  readFrames(
    socket,
    (message) => {
      if (!Array.isArray(message) || message.length !== 3) throw new Error('not a call')
      const [id, method, parameters] = message as unknown[]
      if (typeof id !== 'number' || typeof method !== 'string' || !Array.isArray(parameters)) {
        throw new Error('not a call')
      }
      if (++inFlight > CALLS_PER_CONNECTION_MAX) throw new Error('too many calls in flight')
      void answer(id, method, parameters)
    },
    () => {},
  )
}
