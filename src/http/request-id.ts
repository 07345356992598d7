import { randomBytes } from 'node:crypto'

/**
 * Ids for requests whose caller gave none, 32 hex characters. They distinguish requests and are not
 * secret: 256 consecutive ids share 120 random bits, because drawing bits for each would be a
 * twentieth of a read's cost.
 */

const GIVEN = /^[A-Za-z0-9._:-]{1,128}$/

const SHARED_BYTES = 15
const LAST = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

let shared = ''
let next = LAST.length

/** @param given the caller's id; replaced if it is empty or malformed */
export function requestIdOf(given: string): string {
  return given !== '' && GIVEN.test(given) ? given : newRequestId()
}

export function newRequestId(): string {
  if (next === LAST.length) {
    shared = randomBytes(SHARED_BYTES).toString('hex')
    next = 0
  }
  return shared + LAST[next++]
}
