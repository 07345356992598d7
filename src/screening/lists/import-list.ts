import { basename } from 'node:path'
import { ListFormatError } from './formats/list-parser.js'
import { type ListSource, readListFile, type TronPolicy } from './formats/read-list.js'
import { protectAddresses } from './infrastructure.js'
import { ListStore, type StoredHeader } from './list-store.js'
import type { ListKind } from './named-list.js'

/**
 * When the publisher was last contacted longer ago than this, the list counts as unavailable.
 * Publishers update within days; a week allows for a long weekend and a publisher's outage.
 */
const DEFAULT_MAX_AGE_SECONDS = 7 * 86_400

/**
 * The properties of each source, unless the import overrides them. Plain lists have no publisher.
 */
const SOURCE_DEFAULTS: Record<
  ListSource,
  { readonly name: string; readonly kind: ListKind; readonly maxAgeSeconds: number | null }
> = {
  'ofac-sdn': { name: 'ofac-sdn', kind: 'sanctions', maxAgeSeconds: DEFAULT_MAX_AGE_SECONDS },
  uk: { name: 'uk-sanctions', kind: 'sanctions', maxAgeSeconds: DEFAULT_MAX_AGE_SECONDS },
  eu: { name: 'eu-sanctions', kind: 'sanctions', maxAgeSeconds: DEFAULT_MAX_AGE_SECONDS },
  plain: { name: 'plain', kind: 'sanctions', maxAgeSeconds: null },
}

/**
 * A list that keeps less than this share of its addresses was cut short, or needs a person's
 * confirmation.
 */
const SHRINK_SHARE_MIN = 0.25

interface ImportRequest {
  readonly source: ListSource
  /** The path of the publisher's file: XML, CSV, text, or a ZIP of one. */
  readonly file: string
  /** Lower-case letters, digits, hyphens; several plain lists need one each. */
  readonly name?: string
  readonly kind?: ListKind
  /** Null: never stale. */
  readonly maxAgeSeconds?: number | null
  readonly tron?: TronPolicy
  /** `confirmed` accepts a list that lost most or all of its addresses: a person has checked it. */
  readonly shrink?: 'refuse' | 'confirmed'
  /** The origin of the file, unless it is a local path. */
  readonly origin?: { readonly url: string; readonly etag: string | null }
}

export interface ImportContext {
  /** `<home>/service/lists` */
  readonly storeDirectory: string
  readonly protectedAddresses: readonly string[]
  readonly nowMs?: () => number
}

export interface ImportReport {
  readonly list: StoredHeader
  /** The publisher's format. */
  readonly format: string
  readonly added: number
  readonly removed: number
  readonly checksumMismatches: readonly string[]
}

/** A list that lost more addresses than is plausible. The earlier one stays. */
export class ListShrankError extends Error {
  constructor(name: string, before: number, after: number) {
    super(
      after === 0
        ? `${name} would hold no address, ${before} until now; import it as confirmed if true`
        : `${name} would go from ${before} to ${after} addresses; import it as confirmed if true`,
    )
    this.name = 'ListShrankError'
  }
}

/**
 * Imports a publisher's file in place of the earlier import: addresses that are no longer in it are
 * removed from the list. A running service uses it within a second.
 * @throws ListFormatError when the file is not the expected list, or breaks off
 * @throws ListShrankError
 */
export async function importList(
  request: ImportRequest,
  context: ImportContext,
): Promise<ImportReport> {
  const defaults = SOURCE_DEFAULTS[request.source]
  const name = request.name ?? defaults.name
  const isProtected = protectAddresses(context.protectedAddresses)
  const read = await readListFile(
    request.file,
    request.source,
    isProtected,
    request.tron ?? 'ignore',
  )
  const store = new ListStore(context.storeDirectory, isProtected)
  await store.refresh()
  const before = new Set(entriesOf(store.lists.find((list) => list.name === name)?.packed))
  const after = new Set(entriesOf(read.collector.packed()))
  const { refusedCount, refused } = read.collector
  if (after.size === 0 && refusedCount > 0) {
    const example = JSON.stringify(refused[0]?.text ?? '')
    throw new ListFormatError(
      `the file holds no address to list: ${refusedCount} entries were refused, for example ${example}`,
    )
  }
  const shrank = after.size === 0 || after.size < before.size * SHRINK_SHARE_MIN
  if (shrank && request.shrink !== 'confirmed') {
    throw new ListShrankError(name, before.size, after.size)
  }
  const now = new Date((context.nowMs ?? Date.now)()).toISOString()
  const list = await store.put(
    {
      name,
      kind: request.kind ?? defaults.kind,
      source: request.origin?.url ?? basename(request.file),
      imported_at: now,
      checked_at: now,
      published: read.published,
      max_age_seconds:
        request.maxAgeSeconds === undefined ? defaults.maxAgeSeconds : request.maxAgeSeconds,
      etag: request.origin?.etag ?? null,
      sha256: read.sha256,
      cursor: null,
    },
    read.collector,
  )
  const { format, checksumMismatches } = read
  const added = [...after].filter((entry) => !before.has(entry)).length
  const removed = [...before].filter((entry) => !after.has(entry)).length
  return { list, format, added, removed, checksumMismatches }
}

function* entriesOf(packed: Uint8Array = new Uint8Array(0)): Generator<string> {
  for (let at = 0; at < packed.length; at += 20) {
    yield Buffer.from(packed.subarray(at, at + 20)).toString('latin1')
  }
}
