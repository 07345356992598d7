import type { ChainConfig } from '../config/chains.js'
import { DECIMALS, LATEST_ROUND_DATA } from '../contracts/selectors.js'
import { NATIVE_DECIMALS } from '../domain/chains.js'
import type { Address, Hex } from '../domain/ids.js'
import { type Accepted, decodeRound, gapOfRound, gapOfSequencer } from './chainlink-round.js'
import { type Fact, isInDollars, smallUint, tokenHasDecimals } from './facts.js'
import type { Price, PriceGap } from './price-source.js'

/**
 * The feeds of one chain: read together in one batch, kept for some blocks, and judged when a price
 * is needed.
 */
export interface ChainFeeds {
  /** @param key `native` or a token's address in lower case */
  price(key: string): Price | Promise<Price>
  onHead(blockNumber: number): void
  readings(): readonly FeedReading[]
  /** Reads all feeds; concurrent calls share one reading. Never rejects. */
  refresh(): Promise<void>
  close(): void
}

/** The present state of a feed. */
export interface FeedReading {
  readonly source: string
  /** Why it gives no price; null when it does. */
  readonly gap: PriceGap | null
  /** The age of its last update; null when no acceptable round was read. */
  readonly ageMs: number | null
  /** With a greater age it gives no price. */
  readonly maxAgeMs: number
}

/** The part of a chain's RPC client that is needed; `RpcClient` has it. */
interface FeedReader {
  batch(
    calls: readonly {
      readonly method: string
      readonly params: readonly unknown[]
      readonly hasCode?: true
    }[],
  ): Promise<
    readonly (
      | { readonly ok: true; readonly value: unknown }
      | { readonly ok: false; readonly error?: unknown }
    )[]
  >
}

export interface ChainFeedsOptions {
  readonly chain: ChainConfig
  readonly rpc: FeedReader
  /** Blocks between two readings; by default about ten seconds' worth. */
  readonly refreshBlocks?: number
  /** Milliseconds since the Unix epoch. */
  readonly now?: () => number
}

interface Feed {
  readonly address: Address
  readonly maxAgeMs: number
  readonly source: string
  decimals: number | null
  last: Accepted | null
  current: Price
  /** When the feed itself last answered; a reading that a node refused does not count. */
  heardAtMs: number
}

/**
 * The feed that values an amount, and the facts that make its answer a dollar price of that amount.
 */
interface Priced {
  readonly feed: Feed
  readonly facts: readonly Fact[]
}

/**
 * Feeds answer every heartbeat or after a move of a percent or less; a few seconds more do not
 * matter.
 */
const REFRESH_MS = 10_000
/** Without a reading for this long (no heads, no node), a caller waits for a new one. */
const READING_MAX_AGE_MS = 60_000
const UNREACHABLE: Price = { unavailable: 'feed-unreachable' }
const NO_FEED: Price = { unavailable: 'no-feed' }
const STALE: Price = { unavailable: 'stale' }

export function createChainFeeds(options: ChainFeedsOptions): ChainFeeds {
  const { chain, rpc, now = Date.now } = options
  const refreshBlocks =
    options.refreshBlocks ?? Math.max(1, Math.round(REFRESH_MS / chain.block_time_ms))
  const { feeds, facts, byKey } = feedsOf(chain)
  const sequencer = chain.sequencer_uptime_feed
  let sequencerGap: PriceGap | null = null
  let sequencerHeardAtMs = Number.NEGATIVE_INFINITY
  let readAtMs = Number.NEGATIVE_INFINITY
  let readAtBlock = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | null = null
  let closed = false

  async function read(): Promise<void> {
    const unknown = feeds.filter((feed) => feed.decimals === null)
    const open = facts.filter(({ isAgreed }) => !isAgreed)
    const answers = await rpc.batch([
      ...feeds.map((feed) => ethCall(feed.address, LATEST_ROUND_DATA)),
      ...unknown.map((feed) => ethCall(feed.address, DECIMALS)),
      ...open.map(({ address, asked }) => ethCall(address, asked)),
      ...(sequencer === null ? [] : [ethCall(sequencer as Address, LATEST_ROUND_DATA)]),
    ])
    const values = answers.map((answer) => (answer.ok ? answer.value : null))
    const isHeard = answers.map((answer) => answer.ok || isRevert(answer.error))
    const nowMs = now()
    unknown.forEach((feed, i) => {
      feed.decimals = smallUint(values[feeds.length + i])
    })
    // When a node is gone, the last reading ages; prices do not vanish at once.
    if (!isHeard.slice(0, feeds.length).includes(true)) return
    open.forEach((fact, i) => {
      const heard = answers[feeds.length + unknown.length + i]
      if (heard?.ok === true) fact.hear(heard.value)
      else if (heard !== undefined && isRevert(heard.error)) fact.hear(null)
    })
    feeds.forEach((feed, i) => {
      const asked = unknown.indexOf(feed)
      // A node's refusal says nothing about the feed: its last reading stands, and ages.
      if (isHeard[i] !== true || (asked >= 0 && isHeard[feeds.length + asked] !== true)) return
      feed.heardAtMs = nowMs
      judge(feed, values[i], nowMs)
    })
    if (sequencer !== null && isHeard.at(-1) === true) {
      sequencerGap = gapOfSequencer(decodeRound(values.at(-1)), nowMs)
      sequencerHeardAtMs = nowMs
    }
    readAtMs = nowMs
  }

  function refresh(): Promise<void> {
    if (closed) return Promise.resolve()
    reading ??= read()
      .catch(() => undefined)
      .finally(() => {
        reading = null
      })
    return reading
  }

  function answer({ feed, facts }: Priced): Price {
    const { current } = feed
    if (!('value' in current)) return current
    const heardSinceMs = now() - READING_MAX_AGE_MS
    if (feed.heardAtMs <= heardSinceMs) return UNREACHABLE
    if (sequencer !== null && sequencerHeardAtMs <= heardSinceMs) return UNREACHABLE
    for (const { gap } of facts) if (gap !== null) return { unavailable: gap }
    if (sequencerGap !== null) return { unavailable: sequencerGap }
    return now() - current.updatedAtMs > feed.maxAgeMs ? STALE : current
  }

  return {
    price(key) {
      const priced = byKey.get(key)
      if (priced === undefined) return NO_FEED
      const ageMs = now() - readAtMs
      if (ageMs < READING_MAX_AGE_MS) {
        // Without heads, time keeps the cache warm.
        if (ageMs > 2 * REFRESH_MS && reading === null) void refresh()
        return answer(priced)
      }
      return refresh().then(() =>
        now() - readAtMs < READING_MAX_AGE_MS ? answer(priced) : UNREACHABLE,
      )
    },
    onHead(blockNumber) {
      // A lower block means a reorg, or a node that was reset.
      if (blockNumber >= readAtBlock && blockNumber - readAtBlock < refreshBlocks) return
      readAtBlock = blockNumber
      void refresh()
    },
    readings() {
      const unread = now() - readAtMs >= READING_MAX_AGE_MS
      return feeds.map((feed) => {
        const { source, current, maxAgeMs } = feed
        const prices = [...byKey.values()].filter((it) => it.feed === feed).map(answer)
        const without = unread ? UNREACHABLE : prices.find((price) => 'unavailable' in price)
        return {
          source,
          gap: without !== undefined && 'unavailable' in without ? without.unavailable : null,
          ageMs: 'value' in current ? now() - current.updatedAtMs : null,
          maxAgeMs,
        }
      })
    },
    refresh,
    close() {
      closed = true
    },
  }
}

function judge(feed: Feed, value: unknown, nowMs: number): void {
  const round = decodeRound(value)
  if (round === null || feed.decimals === null) {
    feed.current = { unavailable: 'feed-invalid' }
    return
  }
  const gap = gapOfRound(round, feed.last, nowMs)
  if (gap !== null) {
    feed.current = { unavailable: gap }
    return
  }
  feed.last = { answer: round.answer, acceptedAtMs: nowMs }
  feed.current = {
    value: round.answer,
    decimals: feed.decimals,
    updatedAtMs: round.updatedAtS * 1_000,
    source: feed.source,
  }
}

/**
 * One entry per feed contract, and the entry by which native currency and each token are valued.
 */
function feedsOf(chain: ChainConfig) {
  const byAddress = new Map<string, Priced>()
  const byKey = new Map<string, Priced>()
  const facts: Fact[] = []
  const add = (key: string, configured: ChainConfig['native_feed'], own: readonly Fact[]) => {
    // The same aggregator with two maximum ages needs two entries.
    const id = `${configured.address.toLowerCase()}:${configured.max_age_seconds}`
    const address = configured.address as Address
    const known = byAddress.get(id) ?? {
      feed: {
        address,
        maxAgeMs: configured.max_age_seconds * 1_000,
        source: `chainlink:${configured.address}`,
        decimals: null,
        last: null,
        current: UNREACHABLE,
        heardAtMs: Number.NEGATIVE_INFINITY,
      },
      facts: [isInDollars(address)],
    }
    if (!byAddress.has(id)) facts.push(...known.facts)
    byAddress.set(id, known)
    facts.push(...own)
    byKey.set(key, { feed: known.feed, facts: [...known.facts, ...own] })
  }
  for (const { address, decimals, feed } of chain.tokens) {
    const token = address as Address
    if (feed !== null) add(token.toLowerCase(), feed, [tokenHasDecimals(token, decimals)])
  }
  // After the tokens, so that wrapped native is valued as native whatever a token entry says.
  add('native', chain.native_feed, [])
  const wrapped = chain.wrapped_native as Address
  add(wrapped.toLowerCase(), chain.native_feed, [tokenHasDecimals(wrapped, NATIVE_DECIMALS)])
  return { feeds: [...byAddress.values()].map(({ feed }) => feed), facts, byKey }
}

/**
 * Whether a contract refused: only that error of a call has a JSON-RPC code (`read-answers.ts`).
 */
function isRevert(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'number'
}

function ethCall(to: Address, data: Hex) {
  return { method: 'eth_call', params: [{ to, data }, 'latest'], hasCode: true } as const
}
