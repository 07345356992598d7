import type { Socket } from 'node:net'
import { Packr } from 'msgpackr'
import { FRAME_BYTES_MAX } from './limits.js'

/**
 * Messages on a Unix socket: a big-endian length of 4 bytes, then MessagePack. A frame that is too
 * long or cannot be decoded ends the connection, never the process.
 */
const codec = new Packr({ useRecords: false, moreTypes: false, structuredClone: false })

const LENGTH_BYTES = 4

export function writeFrame(socket: Socket, message: unknown): void {
  const body = codec.pack(message)
  if (body.length > FRAME_BYTES_MAX) throw new RangeError('frame too long')
  // One buffer and one system call: a copy costs less than a gathered write.
  const frame = Buffer.allocUnsafe(LENGTH_BYTES + body.length)
  frame.writeUInt32BE(body.length)
  frame.set(body, LENGTH_BYTES)
  socket.write(frame)
}

/**
 * Calls `onMessage` for each frame. `onBroken` is called at most once, when the peer sends an
 * invalid frame; the socket is then destroyed.
 */
export function readFrames(
  socket: Socket,
  onMessage: (message: unknown) => void,
  onBroken: (error: Error) => void,
): void {
  let chunks: Buffer[] = []
  let buffered = 0
  let broken = false

  function fail(error: unknown): void {
    broken = true
    chunks = []
    socket.destroy()
    onBroken(error instanceof Error ? error : new Error(String(error)))
  }

  function takeFrame(): Buffer | null {
    if (buffered < LENGTH_BYTES) return null
    if (chunks.length > 1 && (chunks[0]?.length ?? 0) < LENGTH_BYTES)
      chunks = [Buffer.concat(chunks)]
    const length = chunks[0]?.readUInt32BE(0) ?? 0
    if (length > FRAME_BYTES_MAX) throw new RangeError('frame too long')
    const end = LENGTH_BYTES + length
    if (buffered < end) return null
    const all = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)
    chunks = all.length > end ? [all.subarray(end)] : []
    buffered = all.length - end
    return all.subarray(LENGTH_BYTES, end)
  }

  socket.on('data', (chunk: Buffer) => {
    if (broken) return
    chunks.push(chunk)
    buffered += chunk.length
    try {
      for (let frame = takeFrame(); frame !== null; frame = takeFrame()) {
        onMessage(codec.unpack(frame))
      }
    } catch (error) {
      fail(error)
    }
  })
}
