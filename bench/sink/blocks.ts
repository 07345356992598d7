import { keccak256 } from '../../src/domain/keccak.js'

/**
 * The chain of a sink: accepts raw transactions and puts all of them into the next block. Nothing
 * is executed and no signature is checked; senders see a chain with room for everything.
 */
export interface SinkBlocks {
  /** @param raw `0x`-prefixed hex. @returns its hash; the same bytes twice are one transaction */
  accept(raw: string): string
  /** Closes a block over what was accepted since the last one. */
  mine(): void
  /** JSON of the block, or `null`. */
  blockByNumber(tag: string): string
  blockByHash(hash: string): string
  /** JSON of the receipt, or `null` before it is mined. */
  receipt(hash: string): string
  readonly height: number
  readonly accepted: number
  /** The newest accepted transactions, oldest first, at most `RECENT_RAW_MAX`. */
  recentRaw(): readonly string[]
}

/** Wei per gas; constant. */
export const BASE_FEE_WEI = 1_000_000
const GAS_USED = '0x5208'
const GAS_LIMIT = '0x1c9c380'
/** A watcher may be away for a minute. */
const BLOCKS_KEPT = 256
/** Blocks that are forgotten together; a divisor of those kept. */
const BLOCKS_FORGOTTEN = 64
/** Senders whose nonce may still be asked for. */
const RECENT_RAW_MAX = 20_000

export function createSinkBlocks(chainId: number): SinkBlocks {
  const byNumber = new Map<number, { readonly hash: string; readonly json: string }>()
  const numberOf = new Map<string, number>()
  const hashes = createRecentHashes(BLOCKS_KEPT / BLOCKS_FORGOTTEN)
  const salt = Date.now().toString(16).padStart(16, '0')
  let pending: string[] = []
  let raws: string[] = []
  let height = -1
  let accepted = 0

  const hashAt = (number: number) =>
    `0x${chainId.toString(16).padStart(16, '0')}${salt}${number.toString(16).padStart(32, '0')}`

  function mine(): void {
    height++
    const hash = hashAt(height)
    const transactions = pending
    pending = []
    if (height % BLOCKS_FORGOTTEN === 0) hashes.forgetOldest()
    for (const txHash of transactions) hashes.set(txHash, height)
    const json = JSON.stringify({
      number: `0x${height.toString(16)}`,
      hash,
      parentHash: hashAt(height - 1),
      timestamp: `0x${Math.floor(Date.now() / 1_000).toString(16)}`,
      baseFeePerGas: `0x${BASE_FEE_WEI.toString(16)}`,
      gasLimit: GAS_LIMIT,
      gasUsed: '0x0',
      transactions,
    })
    byNumber.set(height, { hash, json })
    numberOf.set(hash, height)
    forget(height - BLOCKS_KEPT)
  }

  function forget(number: number): void {
    const old = byNumber.get(number)
    if (old === undefined) return
    byNumber.delete(number)
    numberOf.delete(old.hash)
  }

  function blockByNumber(tag: string): string {
    const number = tag.startsWith('0x') ? Number(tag) : tag === 'earliest' ? 0 : height
    return byNumber.get(number)?.json ?? 'null'
  }

  mine()
  return {
    accept(raw) {
      const bytes = Buffer.from(raw.slice(2), 'hex')
      const hash = `0x${Buffer.from(keccak256(bytes)).toString('hex')}`
      if (hashes.get(hash) !== undefined) return hash
      hashes.set(hash, null)
      pending.push(hash)
      accepted++
      raws.push(raw)
      if (raws.length >= 2 * RECENT_RAW_MAX) raws = raws.slice(-RECENT_RAW_MAX)
      return hash
    },
    mine,
    blockByNumber,
    blockByHash: (hash) => byNumber.get(numberOf.get(hash) ?? -1)?.json ?? 'null',
    receipt(hash) {
      const number = hashes.get(hash) ?? null
      const block = number === null ? undefined : byNumber.get(number)
      if (number === null || block === undefined) return 'null'
      return `{"transactionHash":"${hash}","blockNumber":"0x${number.toString(16)}","blockHash":"${block.hash}","status":"0x1","gasUsed":"${GAS_USED}","effectiveGasPrice":"0x${BASE_FEE_WEI.toString(16)}","logs":[]}`
    },
    get height() {
      return height
    },
    get accepted() {
      return accepted
    },
    recentRaw: () => raws.slice(-RECENT_RAW_MAX),
  }
}

/**
 * Transaction hashes and their block, or null while they wait. A single map would hold a million,
 * and resizing it would stop the chain for a third of a second.
 */
function createRecentHashes(generations: number) {
  let maps: Map<string, number | null>[] = [new Map()]
  return {
    get(hash: string): number | null | undefined {
      for (const map of maps) {
        const found = map.get(hash)
        if (found !== undefined) return found
      }
      return undefined
    },
    /** Writes to the newest map, which is read first, so earlier entries no longer count. */
    set(hash: string, block: number | null): void {
      maps[0]?.set(hash, block)
    },
    forgetOldest(): void {
      maps = [new Map(), ...maps.slice(0, generations)]
    },
  }
}
