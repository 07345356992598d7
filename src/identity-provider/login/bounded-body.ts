import type { IncomingMessage } from 'node:http'

/**
 * How much of an oversized body is read and discarded, so that its sender reads the answer instead
 * of a connection reset. It is several times what a proxy in front lets through (INSTALL.md).
 */
const DRAINED_BYTES_MAX = 256 * 1024

/**
 * Reads a body up to a bound. After the answer 413, end the connection (`lastAnswer`): the rest of
 * the body would be taken for the next request, which behind a proxy is another person's.
 * @returns null when the body is larger
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

/** Returns the headers of an answer after which the connection is unusable. */
export function lastAnswer(status: number): Readonly<Record<string, string>> {
  return status === 413 ? { Connection: 'close' } : {}
}
