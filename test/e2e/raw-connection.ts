import { connect, type Socket } from 'node:net'

export interface RawReply {
  readonly status: number
  readonly head: string
  readonly body: string
}

/** Past it a server that neither answers nor closes has been caught. */
const SILENCE_MS_MAX = 30_000

/**
 * One request after the other over one connection, as bytes; a new one once the server closed it.
 * Each comes from an address of its own below 127/8, so that no run exhausts the ports of one.
 */
export class RawConnection {
  #socket: Socket | null = null
  #received = Buffer.alloc(0)
  #wake = () => {}
  #closed = true
  readonly #port: number
  readonly #localAddress: string | undefined

  constructor(port: number, index: number) {
    this.#port = port
    // macOS has 127.0.0.1 alone.
    this.#localAddress = process.platform === 'linux' ? `127.0.1.${1 + (index % 250)}` : undefined
  }

  /** @returns the answers that came until one to this request was whole, or the server closed */
  async ask(bytes: Buffer, isHead: boolean): Promise<readonly RawReply[]> {
    if (this.#closed) this.#open()
    this.#received = Buffer.alloc(0)
    this.#socket?.write(bytes)
    const replies: RawReply[] = []
    const deadlineMs = Date.now() + SILENCE_MS_MAX
    for (;;) {
      const reply = this.#take(isHead)
      if (reply !== null) {
        replies.push(reply)
        if (/\r\nconnection: close/i.test(reply.head)) await this.#ended(deadlineMs)
        else return replies
        continue
      }
      if (this.#closed) return replies
      await this.#change(deadlineMs)
    }
  }

  /** Ends the connection: what was sent last must not be waited for. */
  close(): void {
    this.#socket?.destroy()
    this.#closed = true
  }

  #open(): void {
    this.#closed = false
    const socket = connect({
      port: this.#port,
      host: '127.0.0.1',
      ...(this.#localAddress === undefined ? {} : { localAddress: this.#localAddress }),
    })
    this.#socket = socket
    socket.on('data', (data) => {
      this.#received = Buffer.concat([this.#received, data])
      this.#wake()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      if (this.#socket === socket) this.#closed = true
      this.#wake()
    })
  }

  async #ended(deadlineMs: number): Promise<void> {
    while (!this.#closed) await this.#change(deadlineMs)
  }

  async #change(deadlineMs: number): Promise<void> {
    const leftMs = deadlineMs - Date.now()
    if (leftMs <= 0) throw new Error('neither answered nor closed')
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, leftMs)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  #take(isHead: boolean): RawReply | null {
    const end = this.#received.indexOf('\r\n\r\n')
    if (end < 0) return null
    const head = this.#received.subarray(0, end).toString('latin1')
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? Number.NaN)
    if (status === 100) {
      // What follows it is the answer.
      this.#received = this.#received.subarray(end + 4)
      return this.#take(isHead)
    }
    const hasBody = !isHead && status !== 204 && status !== 304
    const length = hasBody ? Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0) : 0
    if (this.#received.length < end + 4 + length) return null
    const body = this.#received.subarray(end + 4, end + 4 + length).toString('utf8')
    this.#received = this.#received.subarray(end + 4 + length)
    return { status, head, body }
  }
}
