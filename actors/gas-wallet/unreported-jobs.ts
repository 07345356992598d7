import type { GasTransaction } from '../../src/domain/sponsorship.js'
import { isFinal } from '../../src/domain/transaction.js'
import type { Reader } from '../../src/store/reader.js'
import type { UnreportedJob } from './core/messages.js'
import type { GasWalletState } from './core/state.js'

/**
 * Finds jobs that sub-wallets take for ended although a reorg took them back and a crash came
 * before the update. Sub-wallets poll jobs that have not ended; for ended ones the store keeps
 * which blocks a reorg may still remove. A repeated update about a cancellation changes nothing.
 */
export function unreportedJobs(
  reader: Reader,
  { gasWalletId, chainId }: Pick<GasWalletState, 'gasWalletId' | 'chainId'>,
): UnreportedJob[] {
  const { gas, transactions } = reader.fresh()
  const unreported: UnreportedJob[] = []

  function consider({ job, tx }: GasTransaction): void {
    if (job === null) return
    if (job.cancels === null) {
      const known = reader.ifSound(() => transactions.byId(job.txId))
      if (known === undefined || !isFinal(known.status)) return
      const isSame = known.mined?.blockHash === tx.mined?.blockHash
      if (isSame && known.status === tx.status) return
    }
    unreported.push({ job, tx })
  }

  for (const found of gas.soundOpen(gasWalletId)) consider(found)
  const settled = new Set<string>()
  for (const block of transactions.settledBlocks(chainId)) {
    for (const txId of transactions.settledIn(chainId, block)) {
      if (settled.has(txId)) continue
      settled.add(txId)
      const found = reader.ifSound(() => gas.transaction(txId))
      if (found?.gasWalletId === gasWalletId && isFinal(found.tx.status)) consider(found)
    }
  }
  return unreported
}
