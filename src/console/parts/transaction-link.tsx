import { Link } from 'wouter-preact'
import { CopyButton, shortened } from './copy-button.js'

export function transactionPath(txId: string): string {
  return `/transactions/${encodeURIComponent(txId)}`
}

/** Links to the page of a transaction. */
export function TransactionLink({ txId }: { readonly txId: string }) {
  return (
    <span class="id">
      <Link href={transactionPath(txId)} title={txId}>
        <code>{shortened(txId)}</code>
      </Link>
      <CopyButton text={txId} label="Copy the transaction's id" />
    </span>
  )
}
