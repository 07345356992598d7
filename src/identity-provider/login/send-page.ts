import type { ServerResponse } from 'node:http'
import { lastAnswer } from './bounded-body.js'

/** Sends a page of this process or its script: complete, not cached, and with its own policy. */
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
