/** Fetches lists from their publishers, through the environment's proxy if there is one. */
import { randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Dispatcher, EnvHttpProxyAgent, request } from 'undici'
import type { ListSource } from './formats/read-list.js'
import { type ImportContext, type ImportReport, importList } from './import-list.js'
import { protectAddresses } from './infrastructure.js'
import { ListStore } from './list-store.js'

const DOWNLOAD_MS_MAX = 10 * 60_000
const CONNECT_MS_MAX = 15_000
const DOWNLOAD_BYTES_MAX = 512 * 1024 * 1024
const REDIRECTS_MAX = 5

interface ListDownload {
  readonly source: ListSource
  readonly url: string
  readonly name?: string
  /** Hosts beside the URL's own that may serve the list, with their port where they have one. */
  readonly redirectHosts?: readonly string[]
}

/** OFAC's own export. UK and EU addresses contain tokens or change, so the operator gives them. */
const DEFAULT_DOWNLOADS: readonly ListDownload[] = [
  {
    source: 'ofac-sdn',
    url: 'https://sanctionslistservice.ofac.treas.gov/api/PublicationPreview/exports/SDN_ADVANCED.XML',
  },
]

/** By the host of a publisher, the hosts that it is known to redirect to: OFAC signs a URL of its bucket. */
const STORAGE_HOSTS: Readonly<Record<string, readonly string[]>> = {
  'sanctionslistservice.ofac.treas.gov': [
    'wc2h-sls-prod-public-published.s3.us-gov-west-1.amazonaws.com',
  ],
}

type UpdateOutcome =
  | { readonly outcome: 'updated'; readonly url: string; readonly report: ImportReport }
  /** The publisher answers that ours is the newest. */
  | { readonly outcome: 'unchanged'; readonly url: string }
  /** The earlier list stays, and ages. */
  | { readonly outcome: 'failed'; readonly url: string; readonly reason: string }

/** Fetches each list and imports it. One that fails does not stop the others. */
export async function updateLists(
  context: ImportContext,
  downloads: readonly ListDownload[] = DEFAULT_DOWNLOADS,
): Promise<readonly UpdateOutcome[]> {
  const dispatcher = new EnvHttpProxyAgent({ connect: { timeout: CONNECT_MS_MAX } })
  const outcomes: UpdateOutcome[] = []
  try {
    for (const download of downloads) {
      try {
        outcomes.push(await updateOne(download, context, dispatcher))
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error)
        outcomes.push({ outcome: 'failed', url: download.url, reason })
      }
    }
  } finally {
    await dispatcher.close()
  }
  return outcomes
}

async function updateOne(
  download: ListDownload,
  context: ImportContext,
  dispatcher: Dispatcher,
): Promise<UpdateOutcome> {
  const { source, url, name } = download
  const store = new ListStore(context.storeDirectory, protectAddresses(context.protectedAddresses))
  await store.refresh()
  const known = store.lists.find((list) => list.header.source === url)?.header
  const signal = AbortSignal.timeout(DOWNLOAD_MS_MAX)
  const response = await get(download, known?.etag ?? null, dispatcher, signal)
  if (response.statusCode === 304 && known !== undefined) {
    await response.body.dump()
    const now = new Date((context.nowMs ?? Date.now)()).toISOString()
    await store.markChecked(known.name, now)
    return { outcome: 'unchanged', url }
  }
  if (response.statusCode !== 200) {
    await response.body.dump()
    throw new Error(`the publisher answered ${response.statusCode}`)
  }
  await mkdir(context.storeDirectory, { recursive: true, mode: 0o700 })
  const file = join(context.storeDirectory, `download.${randomBytes(6).toString('hex')}.new`)
  try {
    await pipeline(response.body, atMost(DOWNLOAD_BYTES_MAX), createWriteStream(file), { signal })
    const { etag } = response.headers
    const origin = { url, etag: typeof etag === 'string' && etag.length <= 256 ? etag : null }
    const named = name === undefined ? {} : { name }
    const report = await importList({ source, file, origin, ...named }, context)
    return { outcome: 'updated', url, report }
  } finally {
    await rm(file, { force: true })
  }
}

/** A list decides what may be signed, so no host serves it but those that the operator or this build names. */
async function get(
  { url, redirectHosts = [] }: ListDownload,
  etag: string | null,
  dispatcher: Dispatcher,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  let target = new URL(url)
  const hosts: ReadonlySet<string> = new Set([
    target.host,
    ...(STORAGE_HOSTS[target.host] ?? []),
    ...redirectHosts,
  ])
  for (let i = 0; i <= REDIRECTS_MAX; i++) {
    const headers = etag === null ? {} : { 'if-none-match': etag }
    const response = await request(target, { dispatcher, signal, headers })
    const { location } = response.headers
    if (response.statusCode < 301 || response.statusCode > 308 || response.statusCode === 304) {
      return response
    }
    await response.body.dump()
    if (typeof location !== 'string') throw new Error('the publisher redirects without a target')
    const next = new URL(location, target)
    if (target.protocol === 'https:' && next.protocol !== 'https:') {
      throw new Error('the publisher redirects from https to an unprotected address')
    }
    if (!hosts.has(next.host)) {
      throw new Error(
        `the publisher redirects to ${next.host}, which this list does not name, so nothing was imported; if that host is the publisher's, add it to redirect_hosts of this download in screening.json`,
      )
    }
    target = next
  }
  throw new Error('the publisher redirects too often')
}

function atMost(bytesMax: number): Transform {
  let bytes = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      if (bytes > bytesMax) done(new Error('the download is too large'))
      else done(null, chunk)
    },
  })
}
