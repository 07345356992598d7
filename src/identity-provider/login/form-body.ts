import type { IncomingMessage } from 'node:http'
import { readBounded } from './bounded-body.js'

/** Several times a percent-encoded email and password. */
const FORM_BYTES_MAX = 8 * 1024

/** A form that was not read. The message is public. */
export class FormRefusedError extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.name = 'FormRefusedError'
    this.status = status
  }
}

/** @throws FormRefusedError when the body is not a form, or larger than 8 KiB */
export async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  const mediaType = (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase()
  if (mediaType !== 'application/x-www-form-urlencoded') {
    throw new FormRefusedError(415, 'Send the form as it is.')
  }
  const body = await readBounded(request, FORM_BYTES_MAX)
  if (body === null) throw new FormRefusedError(413, 'The form is too large.')
  return new URLSearchParams(body.toString('utf8'))
}
