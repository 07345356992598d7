import type { IncomingMessage } from 'node:http'

/**
 * Several times what a proxy in front lets through (OPERATIONS.md): so much of a body that is too large
 * is read and thrown away, so that its sender reads the answer and not of a connection that was reset.
 */
const DRAINED_BYTES_MAX = 256 * 1024

/**
 * Whoever answers that it is too large ends the connection (`lastAnswer`): what is left of the body
 * would be taken for the next request, which behind a proxy is somebody else's.
 * @returns null: it is larger
 */
export async function readBounded(
  request: IncomingMessage,
  bytesMax: number,
): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  let received = 0
  for await (const chunk of request) {
    const bytes: Buffer = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk)
    received += bytes.length
    if (received > DRAINED_BYTES_MAX) break
    if (received <= bytesMax) chunks.push(bytes)
  }
  return received > bytesMax ? null : Buffer.concat(chunks)
}

/** Headers of an answer after which the connection is of no use. */
export function lastAnswer(status: number): Readonly<Record<string, string>> {
  return status === 413 ? { Connection: 'close' } : {}
}
