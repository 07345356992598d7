import type { Address, TxId } from './ids.js'

/** `collection` is setApprovalForAll; `permit2` an allowance inside Permit2, not one of Permit2. */
export type AllowanceKind = 'erc20' | 'erc721' | 'collection' | 'permit2'

/**
 * One entry of the ledger of what a wallet ever let others take. It says that a transaction of
 * ours made an approval, not that it still stands: only the chain knows that.
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
}

/** Equal for entries that one revocation ends; the newer one takes the older one's place. */
export function allowanceKey({ chainId, kind, token, spender, tokenId }: AllowanceEntry): string {
  return `${chainId}:${kind}:${token}:${spender}:${tokenId ?? ''}`.toLowerCase()
}

/** What a transaction's approvals add to the ledger once it is signed. */
export function allowanceEntries(
  approvals: readonly (Pick<AllowanceEntry, 'token' | 'spender' | 'kind'> & {
    readonly tokenId?: bigint
  })[],
  chainId: number,
  txId: TxId,
): readonly AllowanceEntry[] {
  return approvals.map(({ token, spender, kind, tokenId }) => ({
    chainId,
    token,
    spender,
    kind,
    tokenId: tokenId ?? null,
    txId,
  }))
}

/** Lower-case addresses of everyone the entries name, as the quoter takes them. */
export function spendersOfEntries(entries: Iterable<AllowanceEntry>): ReadonlySet<string> {
  const spenders = new Set<string>()
  for (const { spender } of entries) spenders.add(spender.toLowerCase())
  return spenders
}
