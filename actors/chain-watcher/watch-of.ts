import type { AccountTransaction } from '../../src/domain/transaction.js'
import type { Owner, WatchCommand } from './core/messages.js'

export function watchOf(
  owner: Owner,
  { txId, from, nonce, attempts, mined }: AccountTransaction,
): WatchCommand {
  const hashes = attempts.map(({ txHash }) => txHash)
  return { type: 'watch', txId, owner, from, nonce, hashes, mined }
}
