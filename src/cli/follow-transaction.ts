import type { TransactionView } from '../api/transaction.js'
import type { Client } from '../client/client.js'
import { UNTIL } from '../client/wait-for-transaction.js'
import { EXIT } from './exit-codes.js'
import type { Io } from './io.js'

const INTERVAL_MS = 1_000

/** Waits for the final record and reports progress to a person; a failure sets the exit code. */
export async function followTransaction(
  io: Io,
  client: Client,
  txId: string,
): Promise<TransactionView> {
  let shown = ''
  const tell = ({ status, tx_hash, confirmations }: TransactionView) => {
    const line = `${txId}  ${status}  ${tx_hash}  ${confirmations} confirmations\n`
    if (line === shown) return
    shown = line
    io.err(line)
  }
  const decided = await client.waitForApproval(txId, {
    intervalMs: INTERVAL_MS,
    // The wait ends when the transaction expires.
    timeoutMs: Number.POSITIVE_INFINITY,
    onLook: tellOfApproval(io),
  })
  const record = UNTIL.final(decided)
    ? decided
    : await client.waitForTransaction(txId, {
        intervalMs: INTERVAL_MS,
        ...(io.isInteractive ? { onLook: tell } : {}),
      })
  if (io.isInteractive) tell(record)
  if (record.status !== 'confirmed') process.exitCode = EXIT.refused
  return record
}

/** Prints once what a call waits for, and where people decide. */
function tellOfApproval(io: Io): (record: TransactionView) => void {
  let isTold = false
  return ({ tx_id, status, approval }) => {
    if (isTold || status !== 'awaiting_approval' || approval === undefined) return
    isTold = true
    const { approval_id, rule, url, expires_at } = approval
    io.err(
      `${tx_id} waits for approval (${rule}) until ${expires_at}: ${url ?? ''} ${approval_id}\n`,
    )
  }
}

export const TRANSACTION_COLUMNS = [
  'tx_id',
  'tx_hash',
  'chain_id',
  'status',
  'to',
  'value',
  'spend_usd',
  'block_number',
  'error',
]
