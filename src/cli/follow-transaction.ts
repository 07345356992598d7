import type { TransactionView } from '../api/transaction.js'
import type { Client } from '../client/client.js'
import { EXIT } from './exit-codes.js'
import type { Io } from './io.js'

const INTERVAL_MS = 1_000

/** Waits for the final record, telling a person how it goes; a failed one sets the exit code. */
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
  const record = await client.waitForTransaction(txId, {
    intervalMs: INTERVAL_MS,
    ...(io.isInteractive ? { onLook: tell } : {}),
  })
  if (record.status !== 'confirmed') process.exitCode = EXIT.refused
  return record
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
