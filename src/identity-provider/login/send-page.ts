import type { ServerResponse } from 'node:http'
import { lastAnswer } from './bounded-body.js'

/** A page of this process, or its script: whole, of the moment, and with its own policy. */
export function sendPage(
  response: ServerResponse,
  status: number,
  mediaType: string,
  body: string,
  contentSecurityPolicy: string,
): void {
  response.writeHead(status, {
    'Content-Type': `${mediaType}; charset=utf-8`,
    'Content-Length': Buffer.byteLength(body),
    'Content-Security-Policy': contentSecurityPolicy,
    'Cache-Control': 'no-store',
    ...lastAnswer(status),
  })
  response.end(body)
}
