import type { Transaction } from '../../src/domain/transaction.js'
import type { SignRequest } from '../../src/service-custody/co-signer.js'
import type { Reader } from '../../src/store/reader.js'
import type { Callers } from './callers.js'

/** What leaves the service rests on what is on disk. */

/** Bytes that were on disk while their transaction was open. It may end while they go out once more. */
export class StoredBytes {
  readonly #known = new Set<string>()

  /** @returns what is wrong about a request to a node: nothing goes out that the disk does not hold */
  sentEarly(body: string, reader: Reader, callers: Callers): string[] {
    if (!body.includes('"eth_sendRawTransaction"')) return []
    const sent = body.matchAll(/"eth_sendRawTransaction","params":\["(0x[0-9a-f]+)"\]/g)
    return [...sent].flatMap(([, raw = '']) =>
      this.#has(raw, reader, callers)
        ? []
        : [`${raw.slice(0, 40)} went out before the disk had it`],
    )
  }

  #has(raw: string, reader: Reader, callers: Callers): boolean {
    if (this.#known.has(raw)) return true
    for (const { subWalletId } of callers.wallets) {
      for (const tx of reader.transactions.openOfWallet(subWalletId)) this.#note(tx)
    }
    for (const { gasWalletId } of reader.gas.wallets()) {
      for (const { tx } of reader.gas.open(gasWalletId)) this.#note(tx)
    }
    if (this.#known.has(raw)) return true
    // What replaces a transaction may come to the disk with the word that the other one landed.
    for (const userId of new Set(callers.wallets.map((wallet) => wallet.userId))) {
      for (const tx of reader.transactions.ofUserOldestFirst(userId, null)) {
        this.#note(reader.gas.transaction(tx.txId)?.tx ?? tx)
      }
    }
    // What the service sends for itself is no user's.
    for (const chainId of new Set([...reader.gas.wallets()].map((wallet) => wallet.chainId))) {
      for (const block of reader.transactions.settledBlocks(chainId)) {
        for (const txId of reader.transactions.settledIn(chainId, block)) {
          const gas = reader.gas.transaction(txId)
          if (gas !== undefined) this.#note(gas.tx)
        }
      }
    }
    return this.#known.has(raw)
  }

  #note({ attempts }: Pick<Transaction, 'attempts'>): void {
    for (const { rawTransaction } of attempts) this.#known.add(rawTransaction)
  }
}

/** What people approved is good for one nonce, which the disk has before anybody else hears of it. */
export function boundEarly(
  { approval, payload, walletId }: SignRequest,
  reader: Reader,
  callers: Callers,
): string[] {
  if (approval === undefined || payload.type !== 'transaction') return []
  const wallet = callers.wallets.find(({ subWalletId }) => subWalletId === walletId)
  if (wallet === undefined) return []
  const stored = reader.fresh().approvals.byId(wallet.userId, approval.approvalId)
  if (stored?.boundNonce === payload.nonce) return []
  return [`${approval.approvalId} is to be signed at ${payload.nonce}, which is not on disk`]
}
