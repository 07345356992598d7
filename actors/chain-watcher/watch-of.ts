import type { AccountTransaction } from '../../src/domain/transaction.js'
import type { GiveUpCommand, Owner, WatchCommand } from './core/messages.js'

export function watchOf(
  owner: Owner,
  { txId, from, nonce, attempts, mined }: AccountTransaction,
): WatchCommand {
  const hashes = attempts.map(({ txHash }) => txHash)
  return { type: 'watch', txId, owner, from, nonce, hashes, mined }
}

/** @param height of the block by which something else had used its nonce */
export function givenUpOf(owner: Owner, tx: AccountTransaction, height: number): GiveUpCommand {
  const { type: _, mined: __, ...watched } = watchOf(owner, tx)
  return { type: 'give-up', ...watched, height }
}
