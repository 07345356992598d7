import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/**
 * Bounds the connections to the login's port. Idle connections cost a peer nothing, so they must
 * not keep others out: one ends after `SILENT_MS`, and it gives way to a newer one when its address
 * has too many, or when all places are taken and its address has the most. Only connections without
 * a complete unanswered request give way.
 */

/** Node's `headersTimeout`, for a connection that sends nothing or drips. */
export const SILENT_MS = 10_000
/** How often Node checks for such connections; its default is 30 s. */
export const CHECKED_MS = 1_000
/** The time within which a peer must take the next byte of an answer. */
export const STALLED_MS = 30_000

export interface PlaceBounds {
  readonly ofOneAddressMax: number
  readonly placesMax: number
}

/** A browser opens six connections to a host; an office may share one address. */
export const LOGIN_PLACES: PlaceBounds = { ofOneAddressMax: 64, placesMax: 512 }

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/**
 * Bounds the connections of `server`.
 * @param addressOf the address that a connection counts against; null for a proxy, which has no
 * bound of its own
 */
export function boundConnections(
  server: Server,
  { ofOneAddressMax, placesMax }: PlaceBounds,
  addressOf: (socket: Socket) => string | null,
): void {
  /**
   * Connections per address, never empty, in the order of arrival. Those of proxies are under null.
   */
  const byAddress = new Map<string | null, Set<Socket>>()
  const latest = new WeakMap<Socket, Exchange>()
  let count = 0

  function enter(socket: Socket, address: string | null): void {
    const own = byAddress.get(address) ?? new Set()
    byAddress.set(address, own.add(socket))
    count++
    socket.once('close', () => leave(socket, address))
  }

  function leave(socket: Socket, address: string | null): void {
    const own = byAddress.get(address)
    if (own?.delete(socket) !== true) return
    count--
    if (own.size === 0) byAddress.delete(address)
  }

  /** Ends the address's oldest idle connection, or its newest when all are at work. */
  function endOneOf(address: string | null): void {
    const own = [...(byAddress.get(address) ?? [])]
    const ended = own.find((socket) => !isAtWork(latest.get(socket))) ?? own.at(-1)
    if (ended === undefined) return
    leave(ended, address)
    ended.destroy()
  }

  server.on('connection', (socket) => {
    const address = addressOf(socket)
    enter(socket, address)
    const ofAddress = byAddress.get(address)?.size ?? 0
    if (address !== null && ofAddress > ofOneAddressMax) endOneOf(address)
    else if (count > placesMax) endOneOf(mostConnected(byAddress))
  })
  server.on('request', (request, response) => latest.set(request.socket, { request, response }))
  server.on('clientError', endBroken)
}

/**
 * Does what node:http does by default, except for a peer that sent nothing: an answer that such a
 * peer never reads would keep its connection half open.
 */
function endBroken(error: NodeJS.ErrnoException, socket: Duplex): void {
  const hasSpoken = (socket as Socket).bytesRead > 0
  if (hasSpoken && socket.writable) {
    socket.write(
      `HTTP/1.1 ${STATUS_OF.get(error.code ?? '') ?? '400 Bad Request'}\r\nConnection: close\r\n\r\n`,
    )
  }
  socket.destroy(error)
}

const STATUS_OF: ReadonlyMap<string, string> = new Map([
  ['ERR_HTTP_REQUEST_TIMEOUT', '408 Request Timeout'],
  ['HPE_HEADER_OVERFLOW', '431 Request Header Fields Too Large'],
])

/**
 * True once the whole request has arrived and its answer is being made. A dripping body does not
 * count.
 */
function isAtWork(exchange: Exchange | undefined): boolean {
  return exchange?.request.complete === true && !exchange.response.writableEnded
}

function mostConnected(byAddress: ReadonlyMap<string | null, ReadonlySet<Socket>>): string | null {
  let most: string | null = null
  let size = 0
  for (const [address, sockets] of byAddress) {
    if (sockets.size <= size) continue
    most = address
    size = sockets.size
  }
  return most
}
