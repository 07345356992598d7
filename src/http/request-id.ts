import { randomBytes } from 'node:crypto'

/**
 * Ids of requests whose caller gave none, 32 characters of hex. They tell requests apart and are no
 * secret: 256 in a row share 120 random bits, since to draw bits for each is a twentieth of what a
 * read costs.
 */

const GIVEN = /^[A-Za-z0-9._:-]{1,128}$/

const SHARED_BYTES = 15
const LAST = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

let shared = ''
let next = LAST.length

/** @param given by the caller; of no use, or empty, it is one of ours */
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
