import { randomBytes } from 'node:crypto'

/**
 * Ids of requests whose caller gave none, 32 characters of hex. They tell requests apart and are no
 * secret: 256 in a row share 120 random bits, since to draw bits for each is a twentieth of what a
 * read costs.
 */

const SHARED_BYTES = 15
const LAST = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

let shared = ''
let next = LAST.length

export function newRequestId(): string {
  if (next === LAST.length) {
    shared = randomBytes(SHARED_BYTES).toString('hex')
    next = 0
  }
  return shared + LAST[next++]
}
