/**
 * Recomputes every hash of evidence logs that `countersign verify-audit --export` wrote: each entry's
 * hash covers the entry before, so what was changed, left out or put in between breaks one, unless all
 * after it were made anew. Whether what the entries say was signed by both keys, the command verifies,
 * which knows the registry.
 */

/** `domain-separated SHA-256: tag 0 | hash before 32 | chain 4 | index 8 | content`, big-endian. */
const TAG = new TextEncoder().encode('awi/evidence/v1\0')
const FORMAT = 'countersign-evidence/1'
const HASH_BYTES = 32
/** Of one line; the largest entries are batches of signatures, of a few kB. */
const LINE_CHARS_MAX = 4_000_000
/** Each of a million broken entries helps nobody. */
const PROBLEMS_MAX = 20
/** How often the person is told, in entries. */
const PROGRESS_ENTRIES = 1_000

export interface ChainFound {
  /** `service` or `identity`, as the file has it. */
  readonly log: string
  readonly chain: number
  readonly entries: number
  /** Of the last entry, hex: what covers all before. */
  readonly head: string
}

export interface EvidenceFound {
  readonly entries: number
  readonly chains: readonly ChainFound[]
  /** In words; empty when every hash holds. */
  readonly problems: readonly string[]
}

interface Line {
  readonly log: string
  readonly chain: number
  readonly index: number
  /** Base64 of `hash 32 | time 8 | kind 1 | body`. */
  readonly entry: string
}

interface Chain {
  readonly log: string
  readonly chain: number
  entries: number
  head: Uint8Array
  expected: number
}

/** @throws Error when the file is none that the command wrote */
export async function checkEvidence(
  pieces: AsyncIterable<Uint8Array>,
  onProgress: (entries: number) => void,
): Promise<EvidenceFound> {
  const chains = new Map<string, Chain>()
  const problems: string[] = []
  let entries = 0
  let isBegun = false
  for await (const text of linesOf(pieces)) {
    if (!isBegun) {
      readHeader(text)
      isBegun = true
      continue
    }
    const line = readLine(text, entries)
    await checkEntry(chainOf(chains, line), line, problems)
    entries++
    if (entries % PROGRESS_ENTRIES === 0) onProgress(entries)
    if (problems.length >= PROBLEMS_MAX) break
  }
  if (!isBegun) throw new Error('This file is empty.')
  const found = [...chains.values()].map(({ log, chain, entries: count, head }) => ({
    ...{ log, chain, entries: count, head: hexOf(head) },
  }))
  return { entries, chains: found, problems }
}

async function checkEntry(chain: Chain, line: Line, problems: string[]): Promise<void> {
  const name = `${line.log} log, chain ${line.chain}`
  const bytes = bytesOf(line.entry)
  if (bytes === null || bytes.length <= HASH_BYTES) {
    problems.push(`${name}: entry ${line.index} is malformed`)
    return
  }
  if (line.index !== chain.expected) {
    problems.push(`${name}: entry ${chain.expected} is due, and ${line.index} comes`)
  }
  const hash = bytes.subarray(0, HASH_BYTES)
  const due = await chainHash(chain.head, line, bytes.subarray(HASH_BYTES))
  if (hexOf(hash) !== hexOf(due))
    problems.push(`${name}: entry ${line.index} does not match its hash`)
  chain.head = hash
  chain.entries++
  chain.expected = line.index + 1
}

async function chainHash(before: Uint8Array, { chain, index }: Line, content: Uint8Array) {
  const message = new Uint8Array(TAG.length + HASH_BYTES + 12 + content.length)
  const place = new DataView(message.buffer, TAG.length + HASH_BYTES)
  message.set(TAG)
  message.set(before, TAG.length)
  place.setUint32(0, chain)
  place.setUint32(4, Math.floor(index / 2 ** 32))
  place.setUint32(8, index % 2 ** 32)
  message.set(content, TAG.length + HASH_BYTES + 12)
  return new Uint8Array(await crypto.subtle.digest('SHA-256', message))
}

function chainOf(chains: Map<string, Chain>, { log, chain }: Line): Chain {
  const name = `${log} ${chain}`
  const known = chains.get(name)
  if (known !== undefined) return known
  const begun = { log, chain, entries: 0, head: new Uint8Array(HASH_BYTES), expected: 0 }
  chains.set(name, begun)
  return begun
}

function readHeader(text: string): void {
  const header = parsed(text)
  if (header?.format !== FORMAT) {
    throw new Error('This is no file that `countersign verify-audit --export` wrote.')
  }
}

function readLine(text: string, entries: number): Line {
  const { log, chain, index, entry } = parsed(text) ?? {}
  const isEntry =
    typeof log === 'string' &&
    Number.isSafeInteger(chain) &&
    Number.isSafeInteger(index) &&
    typeof entry === 'string'
  if (!isEntry) throw new Error(`The file is damaged after ${entries} entries.`)
  return { log, chain: Number(chain), index: Number(index), entry }
}

function parsed(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : null
  } catch {
    return null
  }
}

async function* linesOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of pieces) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > LINE_CHARS_MAX) throw new Error('A line of this file has no end.')
    for (const line of lines) if (line !== '') yield line
  }
  if (rest !== '') yield rest
}

function bytesOf(base64: string): Uint8Array | null {
  try {
    return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
  } catch {
    return null
  }
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
