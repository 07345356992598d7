/**
 * The screener of one thread. Layers, in order: addresses named outside the calldata, the raw scan
 * of the calldata, the user's own rules, the walk of known shapes, providers. The first that
 * objects answers; a listed address outranks calldata that does not decode.
 */
import type { Address } from '../domain/ids.js'
import { CalldataBuffer } from './calldata-buffer.js'
import { addressesOf, blocked, checksummed, countsOf, listHit, userHit } from './findings.js'
import type { ListsReader, ListVersion, OpenLists } from './lists/published-lists.js'
import { askProviders } from './providers/ask-providers.js'
import type { RiskProvider } from './providers/risk-provider.js'
import {
  type Hit,
  INSPECTED_ADDRESSES_MAX,
  type InspectedAddress,
  type Inspection,
  type NamedAddress,
  type ScreenedCall,
  type Screener,
  type Verdict,
} from './screener.js'
import { ADDRESS_BYTES, writeAddress } from './set/address-bytes.js'
import { findEntry } from './set/address-set.js'
import { type Counts, type ScanHit, scanCalldata } from './set/scan.js'
import type { UserRules } from './user-rules.js'
import { KNOWN_SHAPES } from './walk/known-shapes.js'
import {
  partiesOf,
  pathOfHit,
  reportOf,
  type Undecodable,
  undecodableOf,
  type WalkReport,
} from './walk/walk-report.js'
import { walkCalldata } from './walk/walker.js'
import type { WalkOutcome, WalkPool } from './walk-pool.js'

/**
 * For smaller calldata the walk costs less than the way to the pool and back (~180 µs), even for
 * calldata made to be slow.
 */
export const INLINE_WALK_BYTES_MAX = 4_096

/**
 * The scan of a call of this size takes as long as the way to the pool. For larger calldata other
 * calls of the thread would wait: 128 KiB take some milliseconds.
 */
const INLINE_SCAN_BYTES_MAX = 16_384

/**
 * The deterministic deployment proxy takes a salt and init code: its calldata has no selector, and
 * a salt may start like one.
 */
const CREATE2_PROXY = '0x4e59b44847b379578588920ca78fbf26c0b4956c'

export interface ScreenerOptions {
  /** The caller closes it: several screeners may read it. */
  readonly lists: ListsReader
  /** The screener's own: closed with it. */
  readonly walkPool: WalkPool
  readonly providers?: readonly RiskProvider[]
  /** The user's own rules, prepared; undefined when the user has none. */
  readonly rulesOf?: (userId: ScreenedCall['userId']) => UserRules | undefined
  readonly nowMs?: () => number
}

export function createScreener(options: ScreenerOptions): Screener {
  return new LocalScreener(options)
}

class LocalScreener implements Screener {
  readonly #options: ScreenerOptions
  readonly #nowMs: () => number
  readonly #calldata = new CalldataBuffer()
  readonly #address = new Uint8Array(ADDRESS_BYTES)
  /** The clean verdict, which is the same until the lists change. */
  #clean: Verdict & { readonly outcome: 'clean' } = { outcome: 'clean', lists: [] }

  constructor(options: ScreenerOptions) {
    this.#options = options
    this.#nowMs = options.nowMs ?? Date.now
  }

  readiness() {
    const lists = this.#options.lists.current()
    const reason = lists === null ? NOT_LOADED : this.#unusable(lists)
    return { ready: reason === null, reason }
  }

  async close(): Promise<void> {
    await this.#options.walkPool.close()
  }

  screen(call: ScreenedCall): Verdict | Promise<Verdict> {
    const lists = this.#options.lists.current()
    if (lists === null) return { outcome: 'unavailable', lists: [], reason: NOT_LOADED }
    const unusable = this.#unusable(lists)
    if (unusable !== null) return { outcome: 'unavailable', lists: lists.lists, reason: unusable }
    const rules = this.#options.rulesOf?.(call.userId)
    const counts = countsOf(lists, rules)

    const objection = this.#named(call, lists, rules, counts)
    if (objection !== null) return objection

    const length = this.#calldata.load(call.data)
    if (length < 0)
      return undecodable(lists.lists, 'The calldata is not whole bytes of hex.', 'data')
    if (length > INLINE_SCAN_BYTES_MAX && this.#judgesElsewhere(call, rules)) {
      return this.#judged(length, lists, rules)
    }
    if (length > 0) {
      const hit = scanCalldata(lists.set, this.#calldata.bytes, length, counts)
      if (hit !== null)
        return this.#scanned(length, hit, (path) => listHit(lists, hit.entry, path), lists)
      if (rules !== undefined) {
        const own = scanCalldata(rules.block, this.#calldata.bytes, length, ALWAYS)
        if (own !== null)
          return this.#scanned(length, own, (path) => userHit(rules, own.entry, path), lists)
      }
    }
    if ((this.#options.providers ?? []).length > 0)
      return this.#provided(call, lists, rules, length)
    return this.#walked(call, lists.lists, length)
  }

  async inspect(call: ScreenedCall): Promise<Inspection> {
    const verdict = await this.screen(call)
    const lists = this.#options.lists.current()
    const length = this.#calldata.load(call.data)
    if (lists === null || length < 0) return { verdict, addresses: [] }
    const rules = this.#options.rulesOf?.(call.userId)
    const counts = countsOf(lists, rules)
    const bytes = this.#calldata.copy(length)
    const report = hasSelector(call.to) ? await this.#report(bytes) : null
    const parties = report?.outcome === 'walked' ? partiesOf(report.value) : []
    const named: NamedAddress[] = [
      { address: checksummed(call.to), path: 'to' },
      ...(call.extra ?? []).map((extra) => ({ ...extra, address: checksummed(extra.address) })),
      ...addressesOf(bytes, parties.slice(0, INSPECTED_ADDRESSES_MAX)),
    ]
    const addresses = named.slice(0, INSPECTED_ADDRESSES_MAX).map(({ address, path }) => {
      const valid = writeAddress(address, this.#address)
      return { address, path, hit: valid ? this.#addressHit(lists, rules, counts, path) : null }
    })
    return { verdict, addresses: withVerdictHit(addresses, verdict) }
  }

  #unusable(lists: OpenLists): string | null {
    if (lists.unusable !== null) return lists.unusable
    if (lists.staleAtMs === null || this.#nowMs() < lists.staleAtMs) return null
    return 'a screening list is older than its limit'
  }

  #named(
    call: ScreenedCall,
    lists: OpenLists,
    rules: UserRules | undefined,
    counts: Counts,
  ): Verdict | null {
    if (!writeAddress(call.to, this.#address)) return noAddress(lists.lists, 'to')
    const hit = this.#addressHit(lists, rules, counts, 'to')
    if (hit !== null) return blocked(lists.lists, hit)
    if (call.extra === undefined) return null
    for (const { address, path } of call.extra) {
      if (!writeAddress(address, this.#address)) return noAddress(lists.lists, path)
      const found = this.#addressHit(lists, rules, counts, path)
      if (found !== null) return blocked(lists.lists, found)
    }
    return null
  }

  /** Judges the address in `#address`. */
  #addressHit(
    lists: OpenLists,
    rules: UserRules | undefined,
    counts: Counts,
    path: string,
  ): Hit | null {
    const entry = findEntry(lists.set, this.#address, 0)
    if (entry >= 0 && counts(entry)) return listHit(lists, entry, path)
    if (rules === undefined) return null
    const own = findEntry(rules.block, this.#address, 0)
    return own >= 0 ? userHit(rules, own, path) : null
  }

  /**
   * Whether the call can be judged in the pool. Providers need the parties, and allow entries
   * decide on each hit: those calls stay in this thread.
   */
  #judgesElsewhere(call: ScreenedCall, rules: UserRules | undefined): boolean {
    const providers = this.#options.providers?.length ?? 0
    return providers === 0 && (rules?.allow.size ?? 0) === 0 && hasSelector(call.to)
  }

  async #judged(length: number, lists: OpenLists, rules: UserRules | undefined): Promise<Verdict> {
    const sets = [lists.set.buffer, ...(rules === undefined ? [] : [rules.block.buffer])]
    const outcome = await this.#options.walkPool.judge(this.#calldata.copyForScan(length), sets)
    const judged = outcome.outcome === 'walked' ? outcome.value : null
    const hit = judged?.hit ?? null
    if (hit !== null) {
      const { entry, path } = hit
      const own = hit.set > 0 && rules !== undefined
      return blocked(lists.lists, own ? userHit(rules, entry, path) : listHit(lists, entry, path))
    }
    const failure = failureOf(outcome, judged?.undecodable ?? null, lists.lists)
    return failure ?? this.#cleanWith(lists.lists)
  }

  /** Names a hit of the scan by the party that the walk finds in its place. */
  #scanned(
    length: number,
    hit: ScanHit,
    named: (path: string) => Hit,
    lists: OpenLists,
  ): Verdict | Promise<Verdict> {
    const verdict = (outcome: WalkOutcome<WalkReport>) => {
      const parties = outcome.outcome === 'walked' ? partiesOf(outcome.value) : []
      return blocked(lists.lists, named(pathOfHit(hit, parties)))
    }
    if (length <= INLINE_WALK_BYTES_MAX) {
      const state = walkCalldata(KNOWN_SHAPES, this.#calldata.bytes, length)
      return verdict({ outcome: 'walked', value: reportOf(state) })
    }
    return this.#options.walkPool.report(this.#calldata.copy(length)).then(verdict)
  }

  #walked(
    call: ScreenedCall,
    lists: readonly ListVersion[],
    length: number,
  ): Verdict | Promise<Verdict> {
    if (length === 0 || !hasSelector(call.to)) return this.#cleanWith(lists)
    if (length <= INLINE_WALK_BYTES_MAX) {
      const failed = undecodableOf(walkCalldata(KNOWN_SHAPES, this.#calldata.bytes, length))
      return failed === null
        ? this.#cleanWith(lists)
        : undecodable(lists, failed.reason, failed.path)
    }
    return this.#options.walkPool.check(this.#calldata.copy(length)).then((outcome) => {
      const found = outcome.outcome === 'walked' ? outcome.value : null
      return failureOf(outcome, found, lists) ?? this.#cleanWith(lists)
    })
  }

  async #provided(
    call: ScreenedCall,
    lists: OpenLists,
    rules: UserRules | undefined,
    length: number,
  ): Promise<Verdict> {
    const bytes = this.#calldata.copy(length)
    const walked = hasSelector(call.to) && length > 0 ? await this.#report(bytes) : NOTHING_FOUND
    const report = walked.outcome === 'walked' ? walked.value : null
    const failure = failureOf(walked, report?.undecodable ?? null, lists.lists)
    if (failure !== null) return failure
    const parties = report === null ? [] : partiesOf(report)
    const named = [{ address: call.to, path: 'to' }, ...(call.extra ?? [])]
    const objection = await askProviders(
      this.#options.providers ?? [],
      [...named, ...addressesOf(bytes, parties)],
      rules,
      lists.lists,
    )
    return objection ?? this.#cleanWith(lists.lists)
  }

  async #report(bytes: Uint8Array<ArrayBuffer>): Promise<WalkOutcome<WalkReport>> {
    if (bytes.length > INLINE_WALK_BYTES_MAX) {
      return this.#options.walkPool.report(new Uint8Array(bytes))
    }
    return { outcome: 'walked', value: reportOf(walkCalldata(KNOWN_SHAPES, bytes, bytes.length)) }
  }

  #cleanWith(lists: readonly ListVersion[]): Verdict {
    if (this.#clean.lists !== lists) this.#clean = { outcome: 'clean', lists }
    return this.#clean
  }
}

const NOT_LOADED = 'screening lists are not loaded'
const ALWAYS: Counts = () => true
const NOTHING_FOUND: WalkOutcome<WalkReport> = {
  outcome: 'walked',
  value: { undecodable: null, offsets: new Uint32Array(0), paths: '' },
}

function hasSelector(to: Address): boolean {
  return to.length !== CREATE2_PROXY.length || to.toLowerCase() !== CREATE2_PROXY
}

function undecodable(lists: readonly ListVersion[], reason: string, path: string): Verdict {
  return { outcome: 'undecodable', lists, reason, path }
}

function noAddress(lists: readonly ListVersion[], path: string): Verdict {
  return undecodable(lists, 'The address is not 20 bytes of hex.', path)
}

/** The meaning of a walk that failed; null when it succeeded. */
function failureOf(
  outcome: WalkOutcome<unknown>,
  found: Undecodable | null,
  lists: readonly ListVersion[],
): Verdict | null {
  if (outcome.outcome === 'unavailable') return { ...outcome, lists }
  const failed = outcome.outcome === 'undecodable' ? outcome.undecodable : found
  return failed === null ? null : undecodable(lists, failed.reason, failed.path)
}

/** Adds the address of the hit, which is always shown, even when only the raw scan saw it. */
function withVerdictHit(
  addresses: readonly InspectedAddress[],
  verdict: Verdict,
): readonly InspectedAddress[] {
  if (verdict.outcome !== 'blocked') return addresses
  const { hit } = verdict
  if (addresses.some(({ address, hit: shown }) => shown !== null && address === hit.address)) {
    return addresses
  }
  return [...addresses, { address: hit.address, path: hit.path, hit }]
}
