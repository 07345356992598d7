import type { Address, LineageId, TxId } from './ids.js'

/** `collection` is setApprovalForAll; `permit2` an allowance inside Permit2, not one of Permit2. */
export type AllowanceKind = 'erc20' | 'erc721' | 'collection' | 'permit2'

/**
 * One entry of the ledger of what a wallet ever let others take. It says that a transaction of
 * ours made an approval, not that it is still in force: only the chain knows that.
 */
export interface AllowanceEntry {
  readonly chainId: number
  readonly token: Address
  readonly spender: Address
  readonly kind: AllowanceKind
  /** ERC-721 approvals of one item; null elsewhere, and where the calldata did not name it. */
  readonly tokenId: bigint | null
  /** The transaction that made it. */
  readonly txId: TxId
  /** Null or absent when nobody knows who paid for it. */
  readonly paid?: AllowancePayment | null
}

/**
 * Who paid for an approval, which is a credit from then on: as long as it lasts, what the spender
 * takes by it counts nothing more against this lineage.
 */
export interface AllowancePayment {
  readonly lineageId: LineageId
  /** As approved, smallest units. */
  readonly amount: bigint
  /** What of it is not used up; zero for what has no price. */
  readonly left: bigint
  /**
   * The UTC day it was counted in. Spec silent: a credit ends with its day, for the month too. A
   * credit that outlives it for the month alone would need two books; counted twice across
   * midnight is the cautious way.
   */
  readonly day: number
  /**
   * True when another's approval stood in its place before, or may have: until this one is mined,
   * what the chain shows is that one.
   */
  readonly replacesOthers: boolean
}

/** Approvals of an amount, which can be priced. */
export type PricedAllowanceKind = Extract<AllowanceKind, 'erc20' | 'permit2'>

/** What a transaction has used of the credit that an approval was. */
export interface CreditUse {
  /** `allowanceKey` of the approval. */
  readonly key: string
  /** The transaction that made it: a later one in its place is another credit. */
  readonly approvedBy: TxId
  /** Smallest units. */
  readonly amount: bigint
}

/** Equal for entries that one revocation ends; the newer one takes the older one's place. */
export function allowanceKey({
  chainId,
  kind,
  token,
  spender,
  tokenId,
}: Omit<AllowanceEntry, 'txId' | 'paid'>): string {
  return `${chainId}:${kind}:${token}:${spender}:${tokenId ?? ''}`.toLowerCase()
}

/** Lower-case addresses of everyone the entries name, as the quoter takes them. */
export function spendersOfEntries(entries: Iterable<AllowanceEntry>): ReadonlySet<string> {
  const spenders = new Set<string>()
  for (const { spender } of entries) spenders.add(spender.toLowerCase())
  return spenders
}

/** What is known of a wallet's ledger of approvals as a whole. */
export interface AllowanceLedgerMark {
  /** False once entries gave way to newer ones. */
  readonly complete: boolean
}
