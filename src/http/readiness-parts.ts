import type { Fault } from '../errors/fault.js'
import type { PartReport, ReadinessPart } from './health-routes.js'

/** Sources of `/readyz`; each answers at once, from what the process already knows. */
export interface ReadinessSources {
  /** The worst state over all threads that sign. */
  readonly quorum: () => {
    readonly identityProvider: boolean
    readonly quorumSigner: boolean
    /** Sessions exist with both of them. */
    readonly complete: boolean
    /** A service that started later has taken over, permanently. */
    readonly fenced: boolean
  }
  /** @throws Error if the store cannot be read */
  readonly readStore: () => void
  readonly lists: () => {
    readonly ready: boolean
    readonly reason: string | null
    readonly lists: readonly { readonly list: string; readonly stale: boolean }[]
    readonly problems: readonly string[]
  }
  readonly prices: () => readonly {
    readonly chainId: number
    readonly source: string
    /** Why the feed gives no price now; null if it gives one. */
    readonly gap: string | null
  }[]
  readonly chains: () => readonly ChainState[]
  readonly disk: {
    readonly freeBytes: number | null
    readonly floorBytes: number
    refusal(): Fault | null
  }
  /** Null if commits go only to the store. */
  readonly journal: {
    readonly leadership: { readonly epoch: number }
    /** Null if its engine keeps no snapshots. */
    readonly snapshots: { isBehind(): boolean } | null
    /** Why its engine may lose no more servers; null if it may, or does not tell. */
    readonly redundancy: { readonly reason: string | null }
    refusal(): Fault | null
  } | null
  readonly clock: {
    aheadMs(): number | null
    refusal(): Fault | null
  }
}

interface ChainState {
  readonly chainId: number
  readonly name: string
  readonly blockTimeMs: number
  /** Null before the first block. */
  readonly head: {
    readonly number: number
    /** Time since this process first saw the block. */
    readonly ageMs: number
  } | null
  readonly endpoints: number
  /** The number of endpoints that are not used because they reported another chain id. */
  readonly doubtedEndpoints: number
}

const TAKEN_OVER =
  'Fenced: another start of this service has taken over its wallets, so this one can no longer sign. Stop one of the two; restart this one if it is the one to keep.'
const PILING_UP =
  'No snapshot of the store could be made for a long time. The journal grows, and a returning node needs long to catch up.'
const UP: PartReport = { status: 'up' }
const MS_PER_SECOND = 1_000
const BYTES_PER_MIB = 1024 * 1024

/** A chain that has missed this many blocks, after a pause for propagation, is silent. */
const MISSED_BLOCKS_MAX = 3
const HEAD_PAUSE_MS = 10_000

export function readinessParts(sources: ReadinessSources): readonly ReadinessPart[] {
  const part = (name: string, report: () => PartReport): ReadinessPart => ({ name, report })
  return [
    part('co_signer', () => coSigner(sources.quorum())),
    part('quorum', () => quorum(sources.quorum())),
    part('store', () => store(sources.readStore)),
    part('lists', () => listsReport(sources.lists())),
    part('prices', () => prices(sources.prices())),
    part('chains', () => chains(sources.chains())),
    part('disk', () => disk(sources.disk)),
    part('clock', () => clock(sources.clock)),
    ...(sources.journal === null ? [] : [journalPart(sources.journal)]),
  ]
}

function coSigner({ identityProvider }: ReturnType<ReadinessSources['quorum']>): PartReport {
  return identityProvider
    ? UP
    : down('The identity provider does not answer, so nothing can be signed.')
}

function quorum({
  quorumSigner,
  identityProvider,
  complete,
  fenced,
}: ReturnType<ReadinessSources['quorum']>): PartReport {
  if (fenced) return { ...down(TAKEN_OVER), fenced }
  if (!quorumSigner) return down('The quorum signer does not answer, so nothing can be signed.')
  if (complete) return UP
  return down(
    identityProvider
      ? 'The sessions with both other domains are being established.'
      : 'The quorum is incomplete without the identity provider.',
  )
}

function store(read: () => void): PartReport {
  try {
    read()
    return UP
  } catch {
    return down('The store cannot be read.')
  }
}

/** A standby reports the lists that it would screen with. */
export function listsReport({
  ready,
  reason,
  lists,
  problems,
}: ReturnType<ReadinessSources['lists']>): PartReport {
  const stale = lists.filter((list) => list.stale).map(({ list }) => list)
  if (!ready) return { ...down(`Nothing can be screened: ${reason ?? 'unknown'}.`), stale }
  if (stale.length > 0)
    return { ...degraded(`These lists are out of date: ${stale.join(', ')}.`), stale }
  if (problems.length > 0) {
    return degraded(
      `${problems.length} list sources cannot be read; their previous contents apply.`,
    )
  }
  return UP
}

/** Never down, because a key may be allowed to send what has no price. */
function prices(readings: ReturnType<ReadinessSources['prices']>): PartReport {
  const gaps = readings.filter(({ gap }) => gap !== null)
  if (gaps.length === 0) return UP
  const missing = gaps.map(({ chainId, source, gap }) => ({ chain_id: chainId, source, gap }))
  const on = [...new Set(gaps.map(({ chainId }) => chainId))].join(', ')
  const sentence = `${gaps.length} feeds on chains ${on} give no price; calls that need one are refused.`
  return { ...degraded(sentence), missing }
}

function chains(states: readonly ChainState[]): PartReport {
  const reports = states.map((state) => ({ state, report: chain(state) }))
  const silent = reports.filter(({ report }) => report.status === 'down')
  const doubted = reports.filter(({ report }) => report.status === 'degraded')
  const facts = {
    chains: Object.fromEntries(reports.map(({ state, report }) => [state.chainId, report])),
  }
  const namesOf = (some: typeof reports) =>
    some.map(({ state }) => `${state.name} (${state.chainId})`).join(', ')
  if (silent.length === 0) {
    if (doubted.length === 0) return { ...UP, ...facts }
    return { ...degraded(`Endpoints of ${namesOf(doubted)} report another chain id.`), ...facts }
  }
  const names = namesOf(silent)
  if (silent.length === states.length) return { ...down('No chain answers.'), ...facts }
  return { ...degraded(`No new blocks of ${names}; writes there are refused.`), ...facts }
}

function chain({ head, blockTimeMs, endpoints, doubtedEndpoints }: ChainState): PartReport {
  if (doubtedEndpoints >= endpoints) return down('Its endpoints report another chain id.')
  if (head === null) return down('No block has been seen yet.')
  const seconds = Math.floor(head.ageMs / MS_PER_SECOND)
  const facts = { head: head.number, head_age_seconds: seconds }
  if (head.ageMs > HEAD_PAUSE_MS + MISSED_BLOCKS_MAX * blockTimeMs) {
    return { ...down(`No new block for ${seconds} s.`), ...facts }
  }
  if (doubtedEndpoints === 0) return { ...UP, ...facts }
  const reason = `${doubtedEndpoints} of ${endpoints} endpoints report another chain id.`
  return { ...degraded(reason), ...facts }
}

function clock({ aheadMs, refusal }: ReadinessSources['clock']): PartReport {
  const ahead = aheadMs()
  const refused = refusal()
  const facts = ahead === null ? {} : { ahead_seconds: Math.round(ahead / MS_PER_SECOND) }
  return refused === null ? { ...UP, ...facts } : { ...down(refused.message), ...facts }
}

/** Rounded to the mebibyte, because callers without a key need no more detail. */
function disk({ freeBytes, floorBytes, refusal }: ReadinessSources['disk']): PartReport {
  const mib = (bytes: number) => Math.floor(bytes / BYTES_PER_MIB)
  const refused = refusal()
  const facts = {
    free_mib: freeBytes === null ? null : mib(freeBytes),
    floor_mib: mib(floorBytes),
  }
  return refused === null ? { ...UP, ...facts } : { ...down(refused.message), ...facts }
}

function journalPart({
  leadership,
  refusal,
  snapshots,
  redundancy,
}: NonNullable<ReadinessSources['journal']>): ReadinessPart {
  const facts = { epoch: leadership.epoch }
  return {
    name: 'journal',
    report() {
      const refused = refusal()
      if (refused !== null)
        return { ...down(sentences(refused.message, redundancy.reason)), ...facts }
      if (redundancy.reason !== null) return { ...degraded(redundancy.reason), ...facts }
      if (snapshots?.isBehind() === true) return { ...degraded(PILING_UP), ...facts }
      return { ...UP, ...facts }
    },
  }
}

function sentences(first: string, second: string | null): string {
  return second === null ? first : `${first} ${second}`
}

function down(reason: string): PartReport {
  return { status: 'down', reason }
}

function degraded(reason: string): PartReport {
  return { status: 'degraded', reason }
}
