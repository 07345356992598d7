/**
 * Worker entry: walks calldata in a thread with a heap limit, so that calldata that defeats the
 * walk's own budget ends only this thread.
 */

import { openAddressSet } from '../screening/set/address-set.js'
import { SCAN_TAIL_BYTES, scanCalldata } from '../screening/set/scan.js'
import { KNOWN_SHAPES } from '../screening/walk/known-shapes.js'
import {
  type Judged,
  partiesOf,
  pathOfHit,
  reportOf,
  type Undecodable,
  undecodableOf,
  type WalkReport,
} from '../screening/walk/walk-report.js'
import { walkCalldata } from '../screening/walk/walker.js'

/** Answers once the thread has loaded its modules. */
export function warm(): true {
  return true
}

/** Whether the calldata decodes. */
export function check(data: Uint8Array): Undecodable | null {
  return undecodableOf(walkCalldata(KNOWN_SHAPES, data, data.length))
}

/** Every address in the calldata, with its path. */
export function report(data: Uint8Array): WalkReport {
  return reportOf(walkCalldata(KNOWN_SHAPES, data, data.length))
}

/**
 * Scans the raw bytes for each set in turn, then walks the calldata.
 * @param data with SCAN_TAIL_BYTES zeros after the calldata
 */
export function judge({
  data,
  sets,
}: {
  readonly data: Uint8Array
  readonly sets: readonly SharedArrayBuffer[]
}): Judged {
  const length = data.length - SCAN_TAIL_BYTES
  for (const [set, buffer] of sets.entries()) {
    const hit = scanCalldata(openAddressSet(buffer), data, length, () => true)
    if (hit === null) continue
    const parties = partiesOf(reportOf(walkCalldata(KNOWN_SHAPES, data, length)))
    return { hit: { set, entry: hit.entry, path: pathOfHit(hit, parties) }, undecodable: null }
  }
  return { hit: null, undecodable: undecodableOf(walkCalldata(KNOWN_SHAPES, data, length)) }
}
