/**
 * Owns the lists: one owner in the service's process gathers them from their sources, builds the
 * address set and publishes it to every thread. It is the only writer of lists in memory.
 */
import { type FSWatcher, mkdirSync, watch } from 'node:fs'
import { isOracleListName } from '../../config/sanctions-oracles.js'
import { buildAddressSet } from '../set/address-set.js'
import { devList } from './dev-list.js'
import { protectAddresses } from './infrastructure.js'
import { holdsEntry, PRECEDENCE, revisionOf, staleAtMs, stateOf, versionOf } from './list-state.js'
import { ListStore, type StoredList } from './list-store.js'
import type { NamedList } from './named-list.js'
import type { ListsReader, ListsStatus, Publication } from './published-lists.js'
import { ListsPublisher, type SharedLists } from './shared-lists.js'
import { TextDirectory } from './text-directory.js'

/** File notifications get lost on some file systems; polling costs one stat per file. */
const POLL_MS = 1_000
/** Editors and scripts change a directory several times for one save. */
const WATCH_DEBOUNCE_MS = 20

/** The part of a pino logger that is used here. */
export interface ListLog {
  info(facts: object, message: string): void
  warn(facts: object, message: string): void
  error(facts: object, message: string): void
}

export interface ListOwnerOptions {
  readonly mode: 'dev' | 'live'
  /** The operator's `*.txt` lists; need not exist. */
  readonly textListsDirectory: string
  /** Imported lists; need not exist. */
  readonly storeDirectory: string
  /** Our own contracts, configured tokens and vaults: entries that name them are refused. */
  readonly protectedAddresses: readonly string[]
  /**
   * The names of the lists that are mirrored from chains. Stored mirrors with other names no longer
   * count, and a live service does not write before each of these has been mirrored.
   */
  readonly mirrors?: readonly string[]
  readonly log: ListLog
  readonly nowMs?: () => number
}

export interface ListOwner extends ListsReader {
  status(): ListsStatus
  /** Every list that holds the address, not only the first. @param address 20 bytes */
  listsWith(address: Uint8Array): readonly { readonly list: string; readonly version: string }[]
  /**
   * Shares the lists with one worker thread: pass the result in its workerData, and `port` in its
   * transferList.
   */
  share(): SharedLists
  /** Reads all sources now. */
  refresh(): Promise<void>
}

/**
 * Loads all lists and keeps them current until closed.
 * @throws Error in live mode when no imported sanctions list has an entry
 */
export async function createListOwner(options: ListOwnerOptions): Promise<ListOwner> {
  const owner = new FileListOwner(options)
  await owner.start()
  return owner
}

/** Loads all lists in their present form, without watching or refusing anything: for inspection. */
export async function readListsOnce(options: ListOwnerOptions): Promise<ListOwner> {
  const owner = new FileListOwner(options)
  await owner.refresh()
  return owner
}

class FileListOwner implements ListOwner {
  readonly #options: ListOwnerOptions
  readonly #nowMs: () => number
  readonly #texts: TextDirectory
  readonly #store: ListStore
  readonly #mirrors: ReadonlySet<string>
  readonly #builtIn: readonly NamedList[]
  readonly #watchers: FSWatcher[] = []
  #publisher: ListsPublisher | null = null
  #published = ''
  #built: { readonly revisions: string; readonly buffer: SharedArrayBuffer } | null = null
  #lists: readonly NamedList[] = []
  #timer: NodeJS.Timeout | null = null
  #debounce: NodeJS.Timeout | null = null
  #refreshing: Promise<void> | null = null
  #refreshAgain = false
  #loggedProblems = ''
  #closed = false

  constructor(options: ListOwnerOptions) {
    this.#options = options
    this.#nowMs = options.nowMs ?? Date.now
    const isProtected = protectAddresses(options.protectedAddresses)
    this.#mirrors = new Set(options.mirrors)
    this.#texts = new TextDirectory(options.textListsDirectory, isProtected)
    this.#store = new ListStore(options.storeDirectory, isProtected)
    this.#builtIn = options.mode === 'dev' ? [devList(isProtected)] : []
  }

  async start(): Promise<void> {
    await this.refresh()
    // A mirror needs the running service, so only imported lists are required at start.
    const reason = this.#withoutImport()
    if (reason !== null) throw new Error(`screening cannot start: ${reason}`)
    for (const directory of [this.#options.textListsDirectory, this.#options.storeDirectory]) {
      mkdirSync(directory, { recursive: true, mode: 0o700 })
      try {
        const watcher = watch(directory, () => this.#soon())
        watcher.on('error', (error) => {
          this.#options.log.warn({ directory, err: error }, 'list directory is polled, not watched')
          watcher.close()
        })
        watcher.unref()
        this.#watchers.push(watcher)
      } catch (error) {
        this.#options.log.warn({ directory, err: error }, 'list directory is polled, not watched')
      }
    }
    this.#timer = setInterval(() => this.#refreshInBackground(), POLL_MS)
    this.#timer.unref()
  }

  current() {
    return this.#publisher?.current ?? null
  }

  share(): SharedLists {
    if (this.#publisher === null) throw new Error('lists can be shared only once they are loaded')
    return this.#publisher.share()
  }

  /** Refreshes run one at a time; one that is requested during another runs after it. */
  refresh(): Promise<void> {
    if (this.#refreshing === null) this.#refreshing = this.#refreshAll()
    else this.#refreshAgain = true
    return this.#refreshing
  }

  async #refreshAll(): Promise<void> {
    try {
      do {
        this.#refreshAgain = false
        await this.#texts.refresh(this.#nowMs())
        await this.#store.refresh()
        this.#reportProblems()
        this.#publishIfChanged()
      } while (this.#refreshAgain)
    } finally {
      this.#refreshing = null
    }
  }

  status(): ListsStatus {
    const nowMs = this.#nowMs()
    const open = this.current()
    const stale = open !== null && open.staleAtMs !== null && nowMs >= open.staleAtMs
    const reason =
      open === null ? 'lists are not loaded' : (open.unusable ?? (stale ? 'a list is stale' : null))
    return {
      ready: reason === null,
      reason,
      lists: this.#lists.map((list) => stateOf(list, nowMs)),
      problems: [...this.#texts.problems, ...this.#store.problems],
    }
  }

  listsWith(address: Uint8Array) {
    return this.#lists
      .filter(({ packed }) => holdsEntry(packed, address))
      .map(({ name, version }) => ({ list: name, version }))
  }

  close(): void {
    this.#closed = true
    if (this.#timer !== null) clearInterval(this.#timer)
    if (this.#debounce !== null) clearTimeout(this.#debounce)
    for (const watcher of this.#watchers) watcher.close()
    this.#publisher?.close()
  }

  #soon(): void {
    if (this.#closed || this.#debounce !== null) return
    this.#debounce = setTimeout(() => {
      this.#debounce = null
      this.#refreshInBackground()
    }, WATCH_DEBOUNCE_MS)
    this.#debounce.unref()
  }

  #refreshInBackground(): void {
    this.refresh().catch((error: unknown) => {
      this.#options.log.error({ err: error }, 'screening lists could not be refreshed')
    })
  }

  #publishIfChanged(): void {
    const lists = [...this.#builtIn, ...this.#stored(), ...this.#texts.lists].sort(
      (a, b) => PRECEDENCE[a.kind] - PRECEDENCE[b.kind],
    )
    const unusable = this.#unusable()
    const revisions = lists.map((list) => [revisionOf(list), list.checkedAtMs])
    const identity = JSON.stringify([unusable, revisions])
    if (this.#closed || (identity === this.#published && this.#publisher !== null)) return
    const before = new Map(this.#lists.map((list) => [list.name, revisionOf(list)]))
    this.#lists = lists
    this.#published = identity
    const publication = this.#publicationOf(lists, unusable)
    if (this.#publisher === null) this.#publisher = new ListsPublisher(publication)
    else this.#publisher.publish(publication)
    this.#reportChanges(before)
  }

  #publicationOf(
    lists: readonly NamedList[],
    unusable: string | null,
  ): Omit<Publication, 'sequence'> {
    return {
      buffer: this.#setOf(lists),
      lists: lists.map(versionOf),
      staleAtMs: this.#options.mode === 'live' ? staleAtMs(lists) : null,
      unusable,
    }
  }

  /**
   * Mirrors are confirmed as current about every minute; their set is rebuilt only when it changed.
   */
  #setOf(lists: readonly NamedList[]): SharedArrayBuffer {
    const revisions = JSON.stringify(lists.map(revisionOf))
    if (this.#built?.revisions !== revisions) {
      const { buffer } = buildAddressSet(
        lists.map(({ packed }, listIndex) => ({ packed, listIndex })),
      )
      this.#built = { revisions, buffer }
    }
    return this.#built.buffer
  }

  #stored(): readonly StoredList[] {
    return this.#store.lists.filter(
      ({ header }) => header.cursor === null || this.#mirrors.has(header.name),
    )
  }

  /**
   * @param file of the store; an oracle's file does not count, valid or not, unless that oracle is
   * mirrored
   */
  #counts(file: string): boolean {
    const name = file.slice(0, file.lastIndexOf('.'))
    return this.#mirrors.has(name) || !isOracleListName(name)
  }

  #unusable(): string | null {
    if (this.#options.mode === 'dev') return null
    const withoutImport = this.#withoutImport()
    if (withoutImport !== null) return withoutImport
    // Other valid lists do not replace one that cannot be read.
    const counting = this.#store.unread.filter((name) => this.#counts(name))
    const [unread] = [...counting, ...this.#texts.unread]
    if (unread !== undefined) return `${unread} cannot be loaded`
    const present = new Set(this.#store.lists.map(({ name }) => name))
    const missing = [...this.#mirrors].find((name) => !present.has(name))
    return missing === undefined ? null : `${missing} is not mirrored yet`
  }

  /**
   * Spec silent: text files have no publisher and no age, and an oracle is sometimes updated late,
   * so neither is enough for a live service.
   */
  #withoutImport(): string | null {
    if (this.#options.mode === 'dev') return null
    const imported = this.#store.lists.some(
      ({ header, kind, packed }) =>
        header.cursor === null && kind === 'sanctions' && packed.length > 0,
    )
    return imported ? null : 'no sanctions list is imported'
  }

  #reportChanges(before: ReadonlyMap<string, string>): void {
    const { log } = this.#options
    for (const list of this.#lists) {
      if (before.get(list.name) === revisionOf(list)) continue
      const { list: name, ...facts } = versionOf(list)
      log.info({ list: name, ...facts }, 'screening list loaded')
      if (list.refusedCount === 0) continue
      const { refused, refusedCount } = list
      log.error(
        { list: name, refusedCount, refused },
        'screening list holds entries that were refused',
      )
    }
    const now = new Set(this.#lists.map((list) => list.name))
    for (const name of before.keys()) {
      if (!now.has(name)) log.warn({ list: name }, 'screening list removed')
    }
  }

  #reportProblems(): void {
    const problems = [...this.#texts.problems, ...this.#store.problems]
    const text = problems.join('\n')
    if (text !== this.#loggedProblems && problems.length > 0) {
      this.#options.log.error({ problems }, 'screening lists could not be read; earlier ones count')
    }
    this.#loggedProblems = text
  }
}
