/**
 * Imported lists on disk, one file each under `<home>/service/lists/`: a line of JSON about the
 * list, then one address per line. A file is replaced whole by rename, so a reader sees the old
 * list or the new one and a crash leaves one of them.
 */
import { createHash, randomBytes } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { ADDRESS_BYTES, addressTextAt } from '../set/address-bytes.js'
import { isGone } from './list-state.js'
import { EntryCollector, type NamedList } from './named-list.js'
import { readTextList, TEXT_LIST_BYTES_MAX } from './text-list.js'

const SUFFIX = '.list'
const LIST_NAME = /^[a-z0-9][a-z0-9-]{0,63}$/
/** Imported lists are few: one per publisher. */
const STORED_LISTS_MAX = 64

const refusedEntry = z.strictObject({
  text: z.string().max(64),
  fault: z.enum(['malformed', 'zero-or-precompile', 'low-entropy', 'infrastructure']),
})

/** How far a list that follows a chain's events has read. */
const chainCursor = z.strictObject({
  chain_id: z.int().min(1),
  contract: z.string().regex(/^0x[0-9a-f]{40}$/),
  through_block: z.int().min(0),
  /** When the chain has another block there, it was reorganised past the confirmation depth. */
  block_hash: z.string().regex(/^0x[0-9a-f]{64}$/),
})

const header = z.strictObject({
  format: z.literal(1),
  name: z.string().regex(LIST_NAME),
  kind: z.enum(['sanctions', 'operator', 'risk']),
  /** The publisher, or the file it was imported from. */
  source: z.string().max(512),
  version: z.string().max(64),
  /** When the content was imported. */
  imported_at: z.iso.datetime(),
  /** When the content was last known to be the newest; later than imported_at after a 304. */
  checked_at: z.iso.datetime(),
  /** The publisher's own date of the list, as it writes it. */
  published: z.string().max(64).nullable(),
  max_age_seconds: z.int().min(60).nullable(),
  /** Sent to the publisher to learn whether there is a newer list. */
  etag: z.string().max(256).nullable(),
  /** The hash of the imported file; null for a list that follows a chain. */
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .nullable(),
  /** The hash of the address lines below; a truncated or edited file does not load. */
  entries_sha256: z.string().regex(/^[0-9a-f]{64}$/),
  entries: z.int().min(0),
  refused_count: z.int().min(0),
  refused: z.array(refusedEntry).max(100),
  /** Null for a list that was imported from a file. */
  cursor: chainCursor.nullable().default(null),
})

export type StoredHeader = z.infer<typeof header>

export interface StoredList extends NamedList {
  readonly header: StoredHeader
}

/** The header fields that an import provides; counts and hashes of the entries are computed. */
type ListOrigin = Pick<
  StoredHeader,
  | 'name'
  | 'kind'
  | 'source'
  | 'imported_at'
  | 'checked_at'
  | 'published'
  | 'max_age_seconds'
  | 'etag'
  | 'sha256'
  | 'cursor'
>

export class ListStore {
  readonly #directory: string
  readonly #loaded = new Map<string, { signature: string; list: StoredList }>()
  readonly #isProtected: (entry: Uint8Array) => boolean
  problems: readonly string[] = []
  /** Files that do not load and have no earlier content: none of their entries count. */
  unread: readonly string[] = []

  constructor(directory: string, isProtected: (entry: Uint8Array) => boolean) {
    this.#directory = directory
    this.#isProtected = isProtected
  }

  get lists(): readonly StoredList[] {
    return [...this.#loaded.values()].map((loaded) => loaded.list)
  }

  /**
   * Reads the changed files. A file that does not load keeps its earlier content and is reported.
   */
  async refresh(): Promise<void> {
    const problems: string[] = []
    const unread: string[] = []
    const names = await this.#names()
    for (const name of [...this.#loaded.keys()])
      if (!names.includes(name)) this.#loaded.delete(name)
    for (const name of names) {
      try {
        const path = join(this.#directory, name)
        const at = await stat(path)
        const signature = `${at.ino}:${at.size}:${at.mtimeMs}`
        if (this.#loaded.get(name)?.signature === signature) continue
        if (at.size > TEXT_LIST_BYTES_MAX) throw new RangeError('too large')
        this.#loaded.set(name, { signature, list: this.#parse(await readFile(path, 'utf8')) })
      } catch (error) {
        problems.push(`${name}: ${error instanceof Error ? error.message : 'unreadable'}`)
        if (!this.#loaded.has(name) && !isGone(error)) unread.push(name)
      }
    }
    this.problems = problems
    this.unread = unread
  }

  /**
   * Replaces a list, or writes its first version.
   * @throws RangeError when the name is not lower-case letters, digits and hyphens
   */
  async put(origin: ListOrigin, collector: EntryCollector): Promise<StoredHeader> {
    if (!LIST_NAME.test(origin.name)) throw new RangeError(`not a list name: ${origin.name}`)
    const packed = collector.packed()
    const lines: string[] = []
    for (let at = 0; at < packed.length; at += ADDRESS_BYTES) lines.push(addressTextAt(packed, at))
    const body = lines.map((line) => `${line}\n`).join('')
    const entriesSha256 = createHash('sha256').update(body).digest('hex')
    const written: StoredHeader = header.parse({
      ...origin,
      format: 1,
      version: entriesSha256.slice(0, 16),
      entries_sha256: entriesSha256,
      entries: collector.size,
      refused_count: collector.refusedCount,
      refused: collector.refused,
    })
    await this.#write(origin.name, `${JSON.stringify(written)}\n${body}`)
    return written
  }

  /** Notes that the publisher confirmed its list as unchanged. */
  async markChecked(name: string, checkedAt: string): Promise<void> {
    const path = join(this.#directory, name + SUFFIX)
    const text = await readFile(path, 'utf8')
    const newline = text.indexOf('\n')
    const checked = header.parse({
      ...JSON.parse(text.slice(0, newline)),
      checked_at: checkedAt,
    })
    await this.#write(name, `${JSON.stringify(checked)}${text.slice(newline)}`)
  }

  async #write(name: string, text: string): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 })
    const path = join(this.#directory, name + SUFFIX)
    const draft = `${path}.${randomBytes(6).toString('hex')}.new`
    try {
      const file = await open(draft, 'wx', 0o600)
      try {
        await file.writeFile(text)
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(draft, path)
    } catch (error) {
      await rm(draft, { force: true })
      throw error
    }
    const directory = await open(this.#directory, 'r')
    try {
      await directory.sync()
    } finally {
      await directory.close()
    }
  }

  async #names(): Promise<string[]> {
    try {
      const names = (await readdir(this.#directory)).filter((name) => name.endsWith(SUFFIX)).sort()
      if (names.length > STORED_LISTS_MAX) throw new RangeError('too many stored lists')
      return names
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
      throw error
    }
  }

  /** The entries are checked again: the service's own contracts may differ from the import's. */
  #parse(text: string): StoredList {
    const newline = text.indexOf('\n')
    const parsed = header.parse(JSON.parse(text.slice(0, newline)))
    const body = text.slice(newline + 1)
    if (createHash('sha256').update(body).digest('hex') !== parsed.entries_sha256) {
      throw new Error('the addresses do not match the recorded hash')
    }
    const collector = new EntryCollector(this.#isProtected)
    readTextList(body, collector)
    return {
      header: parsed,
      name: parsed.name,
      kind: parsed.kind,
      source: parsed.source,
      version: parsed.version,
      checkedAtMs: Date.parse(parsed.checked_at),
      maxAgeMs: parsed.max_age_seconds === null ? null : parsed.max_age_seconds * 1_000,
      packed: collector.packed(),
      refused: [...parsed.refused, ...collector.refused],
      refusedCount: parsed.refused_count + collector.refusedCount,
    }
  }
}
