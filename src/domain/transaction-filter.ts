import type { Address, Hex } from './ids.js'
import type { Transaction, TxKind, TxStatus } from './transaction.js'

/** What a list of transactions is narrowed to: all that is said holds of each. */
export interface TransactionFilter {
  readonly subWalletId?: string | undefined
  readonly keyId?: string | undefined
  readonly chainId?: number | undefined
  readonly kind?: TxKind | undefined
  readonly status?: TxStatus | undefined
  /** Of any of its attempts; lower case. */
  readonly txHash?: Hex | undefined
  /** As `addressesIn` gives it. */
  readonly address?: Address | undefined
}

export function isWanted(tx: Transaction, filter: TransactionFilter): boolean {
  const { subWalletId, keyId, chainId, kind, status, txHash, address } = filter
  return (
    (subWalletId === undefined || tx.subWalletId === subWalletId) &&
    (keyId === undefined || tx.keyId === keyId) &&
    (chainId === undefined || tx.call.chainId === chainId) &&
    (kind === undefined || tx.kind === kind) &&
    (status === undefined || tx.status === status) &&
    (txHash === undefined || hashesOf(tx).has(txHash)) &&
    (address === undefined || addressesIn(tx).has(address))
  )
}

/** Lower case. */
export function hashesOf({ attempts, mined }: Transaction): Set<string> {
  const hashes = new Set(attempts.map(({ txHash }) => txHash.toLowerCase()))
  if (mined !== null) hashes.add(mined.txHash.toLowerCase())
  return hashes
}

const SELECTOR_END = '0x12345678'.length
const WORD_CHARS = 64
/** Of calldata; a batch of transfers names more, and is found by the first of them. */
const WORDS_MAX = 64
/** 12 bytes of zeros, and an address that is no small number. */
const ADDRESS_WORD = /^0{24}(?!0{8})[0-9a-f]{40}$/

/** Its wallet, whom it calls, and what its calldata's words name. Lower case. */
export function addressesIn({ from, call: { to, data } }: Transaction): Set<string> {
  const found = new Set([from.toLowerCase(), to.toLowerCase()])
  const end = Math.min(data.length, SELECTOR_END + WORDS_MAX * WORD_CHARS)
  for (let at = SELECTOR_END; at + WORD_CHARS <= end; at += WORD_CHARS) {
    const word = data.slice(at, at + WORD_CHARS).toLowerCase()
    if (ADDRESS_WORD.test(word)) found.add(`0x${word.slice(24)}`)
  }
  return found
}
