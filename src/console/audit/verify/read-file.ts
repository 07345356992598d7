import type { StoredEvidence } from '../../../custody/evidence/stored-evidence.js'

/**
 * Reads the file written by `countersign verify-audit --export`: one JSON object per line, the
 * first with the signed registry, every other one with an entry as on disk. Nothing is verified
 * here.
 */

const FORMAT = 'countersign-evidence/2'
/** Bound of one line; the largest entries are batches of signatures, of a few kB. */
const LINE_CHARS_MAX = 4_000_000
/** Both logs are in memory at once, as in the command; a browser tab has less of it. */
export const ENTRIES_MAX = 1_000_000
/** Entries between two progress reports. */
const PROGRESS_ENTRIES = 1_000

export interface EvidenceFile {
  readonly registry: {
    readonly body: Uint8Array
    readonly signature: Uint8Array
    /** The 65-byte public key of the root that signed it, as the service pins it. */
    readonly root: Uint8Array
  }
  readonly service: readonly StoredEvidence[]
  readonly identity: readonly StoredEvidence[]
}

/** @throws Error with a text for people if the command did not write the file */
export async function readEvidenceFile(
  pieces: AsyncIterable<Uint8Array>,
  onProgress: (entries: number) => void,
): Promise<EvidenceFile> {
  const logs = { service: [] as StoredEvidence[], identity: [] as StoredEvidence[] }
  let registry: EvidenceFile['registry'] | null = null
  let entries = 0
  for await (const text of linesOf(pieces)) {
    if (registry === null) {
      registry = readHeader(text)
      continue
    }
    const { log, entry } = readLine(text, entries)
    const before = logs[log].at(-1)
    // Logs on disk are in this order; a log that returned to an earlier chain could contain entries
    // twice.
    if (before !== undefined && !isBefore(before, entry)) throw damaged(entries)
    logs[log].push(entry)
    entries++
    if (entries > ENTRIES_MAX) {
      throw new Error(
        `This file has more than ${ENTRIES_MAX.toLocaleString()} entries, too many for a browser. Verify them with the command.`,
      )
    }
    if (entries % PROGRESS_ENTRIES === 0) onProgress(entries)
  }
  if (registry === null) throw new Error('This file is empty.')
  return { registry, ...logs }
}

function readHeader(text: string): EvidenceFile['registry'] {
  const header = parsed(text)
  const format = header?.format
  if (typeof format === 'string' && format !== FORMAT && format.startsWith('countersign-evidence/'))
    throw new Error('Another version of Countersign wrote this file. Export it again.')
  const { body, signature, root } = fieldsOf(header?.registry)
  const [bodyBytes, signed, point] = [bytesOf(body), bytesOf(signature), bytesOf(root)]
  if (format !== FORMAT || bodyBytes === null || signed === null || point === null) {
    throw new Error('This file was not written by `countersign verify-audit --export`.')
  }
  return { body: bodyBytes, signature: signed, root: point }
}

function readLine(
  text: string,
  entries: number,
): { readonly log: 'service' | 'identity'; readonly entry: StoredEvidence } {
  const { log, chain, index, entry } = parsed(text) ?? {}
  const bytes = bytesOf(entry)
  const isEntry =
    (log === 'service' || log === 'identity') &&
    isCount(chain) &&
    chain < 2 ** 32 &&
    isCount(index) &&
    bytes !== null
  if (!isEntry) throw damaged(entries)
  return { log, entry: { chain, index, bytes } }
}

function isBefore(one: StoredEvidence, other: StoredEvidence): boolean {
  return one.chain === other.chain ? one.index < other.index : one.chain < other.chain
}

function damaged(entries: number): Error {
  return new Error(`The file is damaged after ${entries.toLocaleString()} entries.`)
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function parsed(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : null
  } catch {
    return null
  }
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

async function* linesOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of pieces) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > LINE_CHARS_MAX) throw new Error('A line of this file is too long.')
    for (const line of lines) if (line !== '') yield line
  }
  if (rest !== '') yield rest
}

/** A Buffer, also in a browser (`in-browser/buffer.ts`), because evidence is read from one. */
function bytesOf(base64: unknown): Uint8Array | null {
  if (typeof base64 !== 'string') return null
  try {
    return Buffer.from(Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)))
  } catch {
    return null
  }
}
