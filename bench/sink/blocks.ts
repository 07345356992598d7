import { keccak256 } from '../../src/domain/keccak.js'

/**
 * The chain of a sink: takes raw transactions and puts all of them into the next block. Nothing is
 * executed and no signature is looked at; what a sender sees is a chain with room for everything.
 */
export interface SinkBlocks {
  /** @param raw `0x`-prefixed hex. @returns its hash; the same bytes twice are one transaction */
  accept(raw: string): string
  /** Closes a block over what was accepted since the last one. */
  mine(): void
  /** JSON of the block, or `null`. */
  blockByNumber(tag: string): string
  blockByHash(hash: string): string
  /** JSON of the receipt, or `null` while it is not mined. */
  receipt(hash: string): string
  readonly height: number
  readonly accepted: number
  /** The newest accepted, oldest first, at most `RECENT_RAW_MAX`. */
  recentRaw(): readonly string[]
}

/** Wei per gas; never moves. */
export const BASE_FEE_WEI = 1_000_000
const GAS_USED = '0x5208'
const GAS_LIMIT = '0x1c9c380'
/** Enough for a watcher that was away for minutes, and a bound on memory. */
const BLOCKS_KEPT = 2_048
/** Whose nonce somebody may still ask about. */
const RECENT_RAW_MAX = 20_000

export function createSinkBlocks(chainId: number): SinkBlocks {
  const byNumber = new Map<number, { readonly hash: string; readonly json: string }>()
  const numberOf = new Map<string, number>()
  /** Of a transaction hash: its block, or null while it waits. */
  const minedIn = new Map<string, number | null>()
  const hashesOf = new Map<number, readonly string[]>()
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
    const hashes = pending
    pending = []
    for (const txHash of hashes) minedIn.set(txHash, height)
    const json = JSON.stringify({
      number: `0x${height.toString(16)}`,
      hash,
      parentHash: hashAt(height - 1),
      timestamp: `0x${Math.floor(Date.now() / 1_000).toString(16)}`,
      baseFeePerGas: `0x${BASE_FEE_WEI.toString(16)}`,
      gasLimit: GAS_LIMIT,
      gasUsed: '0x0',
      transactions: hashes,
    })
    byNumber.set(height, { hash, json })
    numberOf.set(hash, height)
    hashesOf.set(height, hashes)
    forget(height - BLOCKS_KEPT)
  }

  function forget(number: number): void {
    const old = byNumber.get(number)
    if (old === undefined) return
    byNumber.delete(number)
    numberOf.delete(old.hash)
    for (const txHash of hashesOf.get(number) ?? []) minedIn.delete(txHash)
    hashesOf.delete(number)
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
      if (minedIn.has(hash)) return hash
      minedIn.set(hash, null)
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
      const number = minedIn.get(hash) ?? null
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
