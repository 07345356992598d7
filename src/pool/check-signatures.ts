/** Worker entry: checks the signatures of whole batches. */

import { isSignedBy } from '../quorum-protocol/curve.js'
import { CHECK_AT, CHECK_BYTES } from '../service-custody/signature-checks.js'

/** Answers once the thread has loaded its modules. */
export function warm(): true {
  return true
}

/**
 * @param checks CHECK_BYTES each, in a row, at most 32
 * @returns a bit for each check, set when the key of its point made its signature
 */
export function check(checks: Uint8Array): number {
  let bitmap = 0
  for (let index = 0; index * CHECK_BYTES < checks.length; index++) {
    const at = index * CHECK_BYTES
    const part = (from: number, to: number) => checks.subarray(at + from, at + to)
    const point = part(CHECK_AT.point, CHECK_AT.digest)
    const digest = part(CHECK_AT.digest, CHECK_AT.signature)
    const signature = part(CHECK_AT.signature, CHECK_BYTES)
    if (isSignedBy(point, digest, signature)) bitmap |= 1 << index
  }
  return bitmap
}
