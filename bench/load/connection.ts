import { connect } from 'node:net'

/** Text has one byte per character. */
export type RequestBytes = Buffer | string

/** An answer to one request of the load generator. */
export interface LoadAnswer {
  readonly status: number
  readonly body: string
}

/**
 * One keep-alive HTTP/1.1 connection that carries one request at a time. Requests are prepared
 * bytes, and of answers only the status and length are read, because a general client would cost as
 * much CPU as the measured service.
 */
export interface Connection {
  /** @throws Error if the connection ends first; one request at a time */
  request(bytes: RequestBytes): Promise<LoadAnswer>
  /**
   * The same without promise or microtask, for loads that need a cheap generator.
   * @param take gets an Error if the connection ends first
   */
  ask(bytes: RequestBytes, take: Take): void
  close(): void
}

type Take = (answer: LoadAnswer | Error) => void

const HEAD_END = '\r\n\r\n'
const LENGTH = /\r\ncontent-length: *(\d+)/i
/**
 * All sockets read into it, one at a time, because Node's streams would cost more than the answer.
 */
const incoming = Buffer.allocUnsafeSlow(64 * 1024)

export async function openConnection(host: string, port: number): Promise<Connection> {
  let waiting: Take | null = null
  let received = ''
  const settle = (answer: LoadAnswer | Error) => {
    const take = waiting
    waiting = null
    take?.(answer)
  }
  const take = (length: number): void => {
    // Latin-1 has one character per byte, so lengths can be compared.
    const text = incoming.toString('latin1', 0, length)
    received = received === '' ? text : received + text
    const headEnd = received.indexOf(HEAD_END)
    if (headEnd < 0) return
    const bodyLength = LENGTH.exec(received)?.[1]
    if (bodyLength === undefined) {
      settle(new Error(`an answer without a length: ${received.slice(0, 200)}`))
      return
    }
    const end = headEnd + HEAD_END.length + Number(bodyLength)
    if (received.length < end) return
    const answer = {
      status: Number(received.slice(9, 12)),
      body: received.slice(headEnd + HEAD_END.length, end),
    }
    received = received.slice(end)
    settle(answer)
  }
  const socket = connect({
    host,
    port,
    noDelay: true,
    onread: {
      buffer: incoming,
      callback(length) {
        take(length)
        return true
      },
    },
  })
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })
  socket.on('error', settle)
  socket.on('close', () => settle(new Error('the connection was closed')))
  const ask = (bytes: RequestBytes, take: Take): void => {
    if (socket.destroyed) {
      take(new Error('the connection was closed'))
      return
    }
    waiting = take
    socket.write(bytes, 'latin1')
  }
  return {
    ask,
    request: (bytes) =>
      new Promise((resolve, reject) => {
        ask(bytes, (answer) => (answer instanceof Error ? reject(answer) : resolve(answer)))
      }),
    close: () => socket.destroy(),
  }
}

/** The bytes of one request. */
export function httpRequest(
  method: 'GET' | 'POST',
  path: string,
  headers: Readonly<Record<string, string>>,
  body = '',
): Buffer {
  const length = method === 'GET' ? '' : `content-length: ${Buffer.byteLength(body)}\r\n`
  return Buffer.from(`${httpHead(method, path, headers)}${length}\r\n${body}`)
}

/** The beginning of a request, each line with its end; further headers or the empty line follow. */
export function httpHead(
  method: 'GET' | 'POST',
  path: string,
  headers: Readonly<Record<string, string>>,
): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${lines.join('')}`
}
