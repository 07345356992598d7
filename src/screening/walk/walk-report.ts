import type { ScanHit } from '../set/scan.js'
import { formatPath, type WalkFailure, type WalkState } from './walk-state.js'

/** A failed walk as plain data. */
export interface Undecodable {
  readonly cause: WalkFailure['cause'] | 'too-slow'
  /** One sentence for the caller. */
  readonly reason: string
  readonly path: string
}

/** A walk's parties as plain data that crosses threads cheaply. */
export interface WalkReport {
  readonly undecodable: Undecodable | null
  /** Two numbers per party: the byte offset, and 1 when it is written in ASCII. */
  readonly offsets: Uint32Array<ArrayBuffer>
  /** One line per party. */
  readonly paths: string
}

/** The results of scan and walk for one call. */
export interface Judged {
  /** The first listed address: its set, its entry there, and its place. */
  readonly hit: { readonly set: number; readonly entry: number; readonly path: string } | null
  readonly undecodable: Undecodable | null
}

export interface ReportedParty {
  readonly offset: number
  readonly form: 'bytes' | 'ascii'
  readonly path: string
}

export function undecodableOf(state: WalkState): Undecodable | null {
  if (state.failure === null) return null
  const { cause, reason, path } = state.failure
  return { cause, reason, path: formatPath(path) }
}

export function reportOf(state: WalkState): WalkReport {
  const offsets = new Uint32Array(state.parties.length * 2)
  const paths: string[] = []
  for (const [i, party] of state.parties.entries()) {
    offsets[2 * i] = party.offset
    offsets[2 * i + 1] = party.form === 'ascii' ? 1 : 0
    paths.push(formatPath(party.path))
  }
  return { undecodable: undecodableOf(state), offsets, paths: paths.join('\n') }
}

export function partiesOf(report: WalkReport): readonly ReportedParty[] {
  if (report.offsets.length === 0) return []
  return report.paths.split('\n').map((path, i) => ({
    offset: report.offsets[2 * i] ?? 0,
    form: report.offsets[2 * i + 1] === 1 ? 'ascii' : 'bytes',
    path,
  }))
}

/** The name of the party at the place where the scan found an address, or its byte offset. */
export function pathOfHit(hit: ScanHit, parties: readonly ReportedParty[]): string {
  const party = parties.find(({ offset, form }) => offset === hit.offset && form === hit.form)
  return party?.path ?? `data@${hit.offset}`
}
