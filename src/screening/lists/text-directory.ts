/**
 * The operator's own lists: every `*.txt` of one directory, one list per file. People and scripts
 * edit files while the service runs, so a file may be read half-written. The rule that makes this
 * safe: an added address counts at once, a removed one only after the file has been unchanged for
 * REMOVAL_SETTLE_MS.
 */
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ADDRESS_BYTES } from '../set/address-bytes.js'
import { isGone } from './list-state.js'
import { EntryCollector, listVersion, type NamedList } from './named-list.js'
import { readTextList, TEXT_LIST_BYTES_MAX } from './text-list.js'

export const REMOVAL_SETTLE_MS = 2_000
/** Further files are refused with a report: each costs one stat per second. */
export const TEXT_LISTS_MAX = 256
const DIRECTORY = 'the lists directory'

interface FileState {
  /** Size, times and inode: another value means that the content may differ. */
  readonly signature: string
  readonly changedAtMs: number
  /** The entries that count now, including removed ones until they settle. */
  readonly list: NamedList
  /** The file's content, when it has fewer entries than what counts. */
  readonly settled: NamedList | null
}

export class TextDirectory {
  readonly #directory: string
  readonly #isProtected: (entry: Uint8Array) => boolean
  readonly #files = new Map<string, FileState>()
  readonly #missingSinceMs = new Map<string, number>()
  /** Whether the directory was ever read. */
  #isListed = false
  problems: readonly string[] = []
  /** Lists that cannot be read and have no earlier content: none of their entries count. */
  unread: readonly string[] = []

  constructor(directory: string, isProtected: (entry: Uint8Array) => boolean) {
    this.#directory = directory
    this.#isProtected = isProtected
  }

  get lists(): readonly NamedList[] {
    return [...this.#files.values()].map((file) => file.list)
  }

  /**
   * Reads the changed files. Never throws: a file that cannot be read keeps its earlier content.
   */
  async refresh(nowMs: number): Promise<void> {
    const problems: string[] = []
    const unread: string[] = []
    const names = await this.#names(problems)
    if (names === null && !this.#isListed) unread.push(DIRECTORY)
    if (names !== null) {
      this.#isListed = true
      // One list too many must not displace another that counts.
      const ordered = [...names].sort((a, b) => this.#rankOf(a) - this.#rankOf(b))
      const taken = ordered.slice(0, TEXT_LISTS_MAX)
      for (const name of taken) {
        try {
          await this.#refreshFile(name, nowMs)
        } catch (error) {
          problems.push(`${name}: ${error instanceof Error ? error.message : 'unreadable'}`)
          if (!this.#files.has(name) && !isGone(error)) unread.push(name)
        }
      }
      for (const name of ordered.slice(TEXT_LISTS_MAX)) {
        problems.push(`${name}: refused, more than ${TEXT_LISTS_MAX} lists`)
        unread.push(name)
      }
      this.#dropMissing(new Set(taken), nowMs)
    }
    this.problems = problems
    this.unread = unread
  }

  #rankOf(name: string): number {
    return this.#files.has(name) ? 0 : 1
  }

  async #names(problems: string[]): Promise<string[] | null> {
    try {
      return (await readdir(this.#directory)).filter((name) => name.endsWith('.txt')).sort()
    } catch (error) {
      if (isGone(error)) return []
      problems.push(`${DIRECTORY} cannot be read: ${(error as Error).message}`)
      return null
    }
  }

  async #refreshFile(name: string, nowMs: number): Promise<void> {
    const path = join(this.#directory, name)
    const at = await stat(path)
    const signature = `${at.ino}:${at.size}:${at.mtimeMs}:${at.ctimeMs}`
    const before = this.#files.get(name)
    if (before?.signature === signature) {
      if (before.settled === null || nowMs - before.changedAtMs < REMOVAL_SETTLE_MS) return
      this.#files.set(name, { ...before, list: before.settled, settled: null })
      return
    }
    if (at.size > TEXT_LIST_BYTES_MAX) throw new RangeError('too large for a text list')
    const collector = new EntryCollector(this.#isProtected)
    readTextList(await readFile(path, 'utf8'), collector)
    const fresh = asList(name, collector, collector.packed(), nowMs)
    const merged = before === undefined ? null : this.#withRemovals(collector, before.list.packed)
    this.#files.set(name, {
      signature,
      changedAtMs: nowMs,
      list: merged === null ? fresh : asList(name, collector, merged, nowMs),
      settled: merged === null ? null : fresh,
    })
  }

  /** The union with the entries that counted before, or null when nothing was removed. */
  #withRemovals(collector: EntryCollector, before: Uint8Array): Uint8Array | null {
    const stated = collector.size
    for (let at = 0; at < before.length; at += ADDRESS_BYTES) {
      collector.add(before.subarray(at, at + ADDRESS_BYTES), '')
    }
    return collector.size === stated ? null : collector.packed()
  }

  #dropMissing(present: ReadonlySet<string>, nowMs: number): void {
    for (const name of this.#files.keys()) {
      if (present.has(name)) {
        this.#missingSinceMs.delete(name)
        continue
      }
      const sinceMs = this.#missingSinceMs.get(name) ?? nowMs
      this.#missingSinceMs.set(name, sinceMs)
      if (nowMs - sinceMs < REMOVAL_SETTLE_MS) continue
      this.#files.delete(name)
      this.#missingSinceMs.delete(name)
    }
  }
}

function asList(
  fileName: string,
  collector: EntryCollector,
  packed: Uint8Array,
  nowMs: number,
): NamedList {
  return {
    name: fileName.slice(0, -'.txt'.length),
    kind: 'operator',
    source: fileName,
    version: listVersion(packed),
    checkedAtMs: nowMs,
    maxAgeMs: null,
    packed,
    refused: collector.refused,
    refusedCount: collector.refusedCount,
  }
}
