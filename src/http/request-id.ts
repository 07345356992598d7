import { randomFillSync } from 'node:crypto'

/**
 * Ids of requests whose caller gave none: 128 random bits in hex, many drawn at once, since one
 * UUID after the other of `node:crypto` is a tenth of what a read costs. Owns those not given yet.
 */

const ID_BYTES = 16
const ID_CHARS = ID_BYTES * 2
const DRAWN_AT_ONCE = 256

const random = Buffer.alloc(ID_BYTES * DRAWN_AT_ONCE)
const ids: string[] = []

export function newRequestId(): string {
  return ids.pop() ?? draw()
}

function draw(): string {
  const hex = randomFillSync(random).toString('hex')
  for (let at = ID_CHARS; at < hex.length; at += ID_CHARS) ids.push(hex.slice(at, at + ID_CHARS))
  return hex.slice(0, ID_CHARS)
}
