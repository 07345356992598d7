import { STREAM_TYPE } from './accepted-form.js'
import type { ResponseBody } from './plain-responses.js'

/** Converts messages to the other of the two forms, for hosts that accept only one. */

/**
 * One message as an event stream that ends with it. The JSON texts of this service contain no line
 * break.
 */
export function asStream(body: ResponseBody): string {
  const text = typeof body === 'string' ? body : Buffer.from(body).toString('utf8')
  return `event: message\ndata: ${text}\n\n`
}

/**
 * The responses of an event stream as one JSON body: an array if the request was a batch.
 * Notifications, such as progress, are dropped.
 */
export async function asJson(response: Response, isBatch: boolean): Promise<string> {
  const answers = (await response.text())
    .split('\n')
    .filter((line) => line.startsWith(DATA))
    .map((line) => line.slice(DATA.length).trim())
    .filter(isResponse)
  return isBatch ? `[${answers.join(',')}]` : (answers.at(-1) ?? '')
}

export function isStream(response: Response): boolean {
  return response.headers.get('content-type')?.startsWith(STREAM_TYPE) === true
}

const DATA = 'data:'

function isResponse(text: string): boolean {
  if (text === '') return false
  const message = JSON.parse(text) as Readonly<Record<string, unknown>>
  return Object.hasOwn(message, 'result') || Object.hasOwn(message, 'error')
}
