import type { Address, LineageId, TxId } from './ids.js'

/**
 * `collection` is setApprovalForAll; `permit2` is an allowance inside Permit2, not one given to
 * Permit2.
 */
type AllowanceKind = 'erc20' | 'erc721' | 'collection' | 'permit2'

/**
 * One entry of the ledger of all allowances that a wallet has given. It means that a transaction of
 * ours gave the allowance, not that it is still in force: only the chain knows that.
 */
export interface AllowanceEntry {
  readonly chainId: number
  readonly token: Address
  readonly spender: Address
  readonly kind: AllowanceKind
  /**
   * The token of an ERC-721 approval for one token; null for other kinds, and when the calldata
   * does not name it.
   */
  readonly tokenId: bigint | null
  /** The transaction that gave it. */
  readonly txId: TxId
  /** Null or absent when it is unknown who paid for it. */
  readonly paid?: AllowancePayment | null
}

/**
 * The lineage that paid for an allowance. The payment is a credit: as long as it lasts, what the
 * spender takes by the allowance counts nothing more against this lineage.
 */
interface AllowancePayment {
  readonly lineageId: LineageId
  /** The amount of the allowance, in smallest units. */
  readonly amount: bigint
  /** The unused part; 0 for an unpriced token. */
  readonly left: bigint
  /**
   * The UTC day in which it was counted. Spec silent: a credit ends with its day, for the monthly
   * cap too. A credit that lasts longer for the month would need two sets of books; counting twice
   * across midnight is the cautious choice.
   */
  readonly day: number
  /**
   * True when it replaces another lineage's allowance, or may: until its transaction is mined, the
   * chain shows the former allowance.
   */
  readonly replacesOthers: boolean
}

/** Allowances of an amount, which can be priced. */
export type PricedAllowanceKind = Extract<AllowanceKind, 'erc20' | 'permit2'>

/** The part of a credit that a transaction has used. */
export interface CreditUse {
  /** The `allowanceKey` of the allowance. */
  readonly key: string
  /** The transaction that gave the allowance: a later allowance in its place is another credit. */
  readonly approvedBy: TxId
  /** In smallest units. */
  readonly amount: bigint
}

/** Equal for entries that one revocation ends; the newer entry replaces the older one. */
export function allowanceKey({
  chainId,
  kind,
  token,
  spender,
  tokenId,
}: Omit<AllowanceEntry, 'txId' | 'paid'>): string {
  return `${chainId}:${kind}:${token}:${spender}:${tokenId ?? ''}`.toLowerCase()
}

/** The lower-case addresses of all spenders in the entries, as the quoter takes them. */
export function spendersOfEntries(entries: Iterable<AllowanceEntry>): ReadonlySet<string> {
  const spenders = new Set<string>()
  for (const { spender } of entries) spenders.add(spender.toLowerCase())
  return spenders
}

/** The state of a wallet's allowance ledger as a whole. */
export interface AllowanceLedgerMark {
  /** False once entries were forgotten to keep the bound. */
  readonly complete: boolean
}
