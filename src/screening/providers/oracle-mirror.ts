/**
 * Mirrors one sanctions oracle into a stored list: block range by block range from where the list
 * ends, only blocks at the chain's confirmation depth, and each range durable with the block that
 * it reaches. A service that was down for a week catches up from there. When a chain was
 * reorganised deeper than that, it is read again from the oracle's first block, and the earlier
 * list counts until then.
 */
import type { ListLog } from '../lists/list-owner.js'
import type { ListStore, StoredList } from '../lists/list-store.js'
import { EntryCollector } from '../lists/named-list.js'
import { ADDRESS_BYTES, addressTextAt, parseListedAddress } from '../set/address-bytes.js'
import {
  applyOracleLogs,
  EMPTY_ORACLE,
  type OracleLog,
  type OracleState,
} from './sanctions-oracle.js'

/** The oracle's chain. Every method may reject; the mirror then stays as it is. */
export interface OracleSource {
  newestBlock(): Promise<number>
  /** Null when the node has no such block. */
  blockHash(number: number): Promise<string | null>
  /** The oracle's logs in `from` to `to`, both included, and the block `to` from the same node. */
  range(from: number, to: number): Promise<OracleRange>
  existsAt(block: number): Promise<boolean>
}

interface OracleRange {
  readonly events: readonly OracleLog[]
  readonly through: { readonly number: number; readonly hash: string; readonly timestampMs: number }
}

interface OracleMirrorOptions {
  /** The name of the list. */
  readonly name: string
  readonly chainId: number
  /** The oracle's address. */
  readonly contract: string
  /** The block of its deployment; null searches for it. */
  readonly fromBlock: number | null
  /** Blocks from the newest down to the first that counts; 1 uses the newest itself. */
  readonly confirmations: number
  readonly maxAgeSeconds: number
  readonly source: OracleSource
  readonly store: ListStore
  readonly isProtected: (entry: Uint8Array) => boolean
  readonly log: ListLog
  readonly nowMs: () => number
}

/** Free plans permit ten blocks, some only one. */
const RANGE_BLOCKS_MIN = 1
const RANGE_BLOCKS_FIRST = 2_000
/** Oracles emit a few events a month: where an endpoint permits it, a few calls read years. */
const RANGE_BLOCKS_MAX = 1_000_000
/** The number of successful ranges in a row before a refused size is tried again. */
const RANGES_TO_RECOVER = 32
/** The most ranges in one call of `advance`, so that closing never waits for years of history. */
const RANGES_MAX = 64
/**
 * How often the reached block is written when nothing was listed: it is also the list's age.
 * Measured by the clock while there is more to read, and by the blocks' timestamps once there is
 * not.
 */
const WRITE_MS = 60_000

interface Reached {
  readonly hash: string
  readonly timestampMs: number
}

export class OracleMirror {
  readonly #options: OracleMirrorOptions
  readonly #contract: string
  #state: OracleState | null = null
  /** The block that `#state` reaches; null before the first range. */
  #through: Reached | null = null
  #rangeBlocks = RANGE_BLOCKS_FIRST
  /** One less than the size refused last: requesting that size each time would double the calls. */
  #grantedBlocks = RANGE_BLOCKS_MAX
  #grantedInARow = 0
  #writtenAtMs = Number.NEGATIVE_INFINITY
  /** `checked_at` of the last write. */
  #writtenCheckedMs = Number.NEGATIVE_INFINITY
  /**
   * Whether an address was listed or removed since the last write; stays true when a write fails.
   */
  #unwritten = false
  /** True while the chain is read again: a partial list must not replace a complete one. */
  #rereading = false

  constructor(options: OracleMirrorOptions) {
    this.#options = options
    this.#contract = options.contract.toLowerCase()
  }

  get name(): string {
    return this.#options.name
  }

  /**
   * Reads what is new, and stores it.
   * @returns whether the stored list changed, and whether there is more to read at once
   * @throws when the chain does not answer, or its answer is impossible; nothing is lost
   */
  async advance(): Promise<{ readonly stored: boolean; readonly behind: boolean }> {
    const { source, confirmations } = this.#options
    const target = (await source.newestBlock()) - (confirmations - 1)
    if (target < 0) return { stored: false, behind: false }
    let state = await this.#whereItStands(target)
    let stored = false
    for (let read = 0; state.throughBlock < target; read++) {
      if (read === RANGES_MAX) return { stored, behind: true }
      const to = Math.min(state.throughBlock + this.#rangeBlocks, target)
      const range = await this.#range(state.throughBlock + 1, to)
      if (range === null) continue
      const { events, through } = range
      state = applyOracleLogs(state, events, through.number)
      this.#state = state
      this.#through = through
      this.#unwritten ||= events.length > 0
      if (through.number < target) {
        stored = (await this.#write('on the way')) || stored
        continue
      }
      this.#unwritten ||= this.#rereading
      this.#rereading = false
    }
    stored = (await this.#write('at the end')) || stored
    return { stored, behind: false }
  }

  /** @returns null when the range was too large for the node: the next one is smaller */
  async #range(from: number, to: number): Promise<OracleRange | null> {
    try {
      const range = await this.#options.source.range(from, to)
      if (range.through.number !== to) throw new RangeError('the node answered with another block')
      if (++this.#grantedInARow >= RANGES_TO_RECOVER) {
        this.#grantedBlocks = Math.min(this.#grantedBlocks * 2, RANGE_BLOCKS_MAX)
        this.#grantedInARow = 0
      }
      if (to - from + 1 === this.#rangeBlocks) {
        this.#rangeBlocks = Math.min(this.#rangeBlocks * 2, this.#grantedBlocks)
      }
      return range
    } catch (error) {
      const asked = to - from + 1
      if (asked <= RANGE_BLOCKS_MIN) throw error
      this.#grantedInARow = 0
      this.#grantedBlocks = asked - 1
      this.#rangeBlocks = Math.max(RANGE_BLOCKS_MIN, Math.floor(asked / 2))
      return null
    }
  }

  async #whereItStands(target: number): Promise<OracleState> {
    const state = this.#state ?? (await this.#stored())
    if (state === null) return this.#fromTheStart(target)
    if (state.throughBlock > target || state.throughBlock < 0) return state
    const hash = await this.#options.source.blockHash(state.throughBlock)
    // A lagging node says nothing about the chain.
    if (hash === null) throw new Error('the node lacks a block that was read before')
    if (this.#through === null || hash === this.#through.hash) return state
    const { name, log } = this.#options
    log.error(
      { list: name, block: state.throughBlock },
      'the chain was reorganised past its depth; the oracle is read again',
    )
    this.#rereading = true
    return this.#fromTheStart(target)
  }

  async #stored(): Promise<OracleState | null> {
    const { store, name, chainId } = this.#options
    await store.refresh()
    const list = store.lists.find((stored) => stored.name === name)
    const cursor = list?.header.cursor ?? null
    if (list === undefined) return null
    // The list of another contract: it counts until the new one is read.
    this.#rereading = cursor?.contract !== this.#contract || cursor.chain_id !== chainId
    if (this.#rereading || cursor === null) return null
    this.#through = { hash: cursor.block_hash, timestampMs: list.checkedAtMs }
    this.#state = { sanctioned: new Set(entriesOf(list)), throughBlock: cursor.through_block }
    return this.#state
  }

  async #fromTheStart(target: number): Promise<OracleState> {
    const first = this.#options.fromBlock ?? (await this.#deployedAt(target))
    this.#through = null
    this.#state = { ...EMPTY_ORACLE, throughBlock: Math.min(first, target) - 1 }
    return this.#state
  }

  /** Finds the first block with the contract by a binary search. */
  async #deployedAt(target: number): Promise<number> {
    const { source } = this.#options
    if (!(await source.existsAt(target))) throw new Error('no contract is at its address')
    let [without, having] = [-1, target]
    try {
      while (having - without > 1) {
        const middle = Math.floor((without + having) / 2)
        if (await source.existsAt(middle)) having = middle
        else without = middle
      }
    } catch (cause) {
      throw new Error('no node has the state of old blocks; set from_block for this oracle', {
        cause,
      })
    }
    return having
  }

  /**
   * Whether to write now. While years of history are read, a write per range would be too many.
   * After catching up the write is not delayed: a list past its age stops every write until it is
   * stored.
   */
  #isDue({ timestampMs }: Reached, where: 'on the way' | 'at the end'): boolean {
    const nowMs = this.#options.nowMs()
    if (this.#unwritten) return true
    return where === 'on the way'
      ? nowMs - this.#writtenAtMs >= WRITE_MS
      : Math.min(nowMs, timestampMs) - this.#writtenCheckedMs >= WRITE_MS
  }

  /** @returns whether a write was due */
  async #write(where: 'on the way' | 'at the end'): Promise<boolean> {
    const [state, through] = [this.#state, this.#through]
    if (state === null || through === null || this.#rereading) return false
    if (!this.#isDue(through, where)) return false
    const { store, name, chainId, maxAgeSeconds, isProtected, nowMs } = this.#options
    const collector = new EntryCollector(isProtected)
    for (const text of state.sanctioned) collector.add(Buffer.from(text.slice(2), 'hex'), text)
    const atMs = nowMs()
    // As old as the block: a node that stopped must not make the list look fresh.
    const checkedMs = Math.min(atMs, through.timestampMs)
    await store.put(
      {
        name,
        kind: 'sanctions',
        source: `oracle ${this.#contract} on chain ${chainId}`,
        imported_at: new Date(atMs).toISOString(),
        checked_at: new Date(checkedMs).toISOString(),
        published: null,
        max_age_seconds: maxAgeSeconds,
        etag: null,
        sha256: null,
        cursor: {
          chain_id: chainId,
          contract: this.#contract,
          through_block: state.throughBlock,
          block_hash: through.hash,
        },
      },
      collector,
    )
    this.#writtenAtMs = atMs
    this.#writtenCheckedMs = checkedMs
    this.#unwritten = false
    return true
  }
}

/** Includes refused entries, so that they count once they are no longer protected. */
function* entriesOf({ packed, header }: StoredList): Generator<string> {
  for (let at = 0; at < packed.length; at += ADDRESS_BYTES) yield addressTextAt(packed, at)
  for (const { text } of header.refused) {
    if (parseListedAddress(text) !== null) yield text.toLowerCase()
  }
}
