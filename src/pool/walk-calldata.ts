/**
 * Worker entry: walks calldata in a thread with a heap limit, so that calldata that finds a hole in
 * the walk's own budget ends this thread and nothing else.
 */
import { KNOWN_SHAPES } from '../screening/walk/shapes/all-shapes.js'
import {
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

/** Every party of the calldata, with its path. */
export function report(data: Uint8Array): WalkReport {
  return reportOf(walkCalldata(KNOWN_SHAPES, data, data.length))
}
