import type { Address, Hex } from './ids.js'
import type { Transaction, TxKind, TxStatus } from './transaction.js'

/** The conditions of a list of transactions: each transaction meets all of them. */
export interface TransactionFilter {
  readonly subWalletId?: string | undefined
  readonly keyId?: string | undefined
  readonly chainId?: number | undefined
  readonly kind?: TxKind | undefined
  readonly status?: TxStatus | undefined
  /** The hash of any of its attempts; lower case. */
  readonly txHash?: Hex | undefined
  /** In the form that `addressesIn` returns. */
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

/** The hashes in lower case. */
export function hashesOf({ attempts, mined }: Transaction): Set<string> {
  const hashes = new Set(attempts.map(({ txHash }) => txHash.toLowerCase()))
  if (mined !== null) hashes.add(mined.txHash.toLowerCase())
  return hashes
}

const SELECTOR_END = '0x12345678'.length
const WORD_CHARS = 64
/**
 * The most words of calldata that are read; a batch of transfers names more, and is found by the
 * first of them.
 */
const WORDS_MAX = 64
/** 12 zero bytes and an address that is not a small number. */
const ADDRESS_WORD = /^0{24}(?!0{8})[0-9a-f]{40}$/

/** Its wallet, its callee and the addresses in its calldata, in lower case. */
export function addressesIn({ from, call: { to, data } }: Transaction): Set<string> {
  const found = new Set([from.toLowerCase(), to.toLowerCase()])
  const end = Math.min(data.length, SELECTOR_END + WORDS_MAX * WORD_CHARS)
  for (let at = SELECTOR_END; at + WORD_CHARS <= end; at += WORD_CHARS) {
    const word = data.slice(at, at + WORD_CHARS).toLowerCase()
    if (ADDRESS_WORD.test(word)) found.add(`0x${word.slice(24)}`)
  }
  return found
}
