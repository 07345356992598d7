import type { GasWalletId, SubWalletId, TxId } from '../../domain/ids.js'
import type { GasTransaction, GasWallet, Sponsorship } from '../../domain/sponsorship.js'
import { soundly } from '../checked-space.js'
import type { Environment } from '../environment.js'
import { LAST, newestFirst } from '../pages.js'

/** Reads gas wallets, what they sent and the calls they pay for. */
export interface GasReader {
  wallet(id: GasWalletId): GasWallet | undefined
  wallets(): Generator<GasWallet>
  transaction(id: TxId): GasTransaction | undefined
  /** Newest first. */
  open(id: GasWalletId): Generator<GasTransaction>
  /** The same without damaged records. */
  soundOpen(id: GasWalletId): Generator<GasTransaction>
  sponsorshipsOf(id: SubWalletId): Generator<Sponsorship>
  /** Sub-wallets that have a sponsored call under way. */
  sponsoredWallets(): Generator<SubWalletId>
}

export function createGasReader({
  spaces,
  noteDamage,
}: Pick<Environment, 'spaces' | 'noteDamage'>): GasReader {
  const ifSound = soundly(noteDamage)
  const transaction = (id: TxId) => spaces.gasTransactions.get(id) as GasTransaction | undefined

  function* open(
    id: GasWalletId,
    read: (txId: TxId) => GasTransaction | undefined,
  ): Generator<GasTransaction> {
    for (const txId of newestFirst(spaces, 'openByGasWallet', id, null)) {
      const found = read(txId as TxId)
      if (found !== undefined) yield found
    }
  }

  return {
    wallet: (id) => spaces.gasWallets.get(id) as GasWallet | undefined,
    *wallets() {
      for (const { value } of spaces.gasWallets.getSound({})) yield value as GasWallet
    },
    transaction,
    open: (id) => open(id, transaction),
    soundOpen: (id) => open(id, (txId) => ifSound(() => transaction(txId))),
    *sponsorshipsOf(id) {
      const range = spaces.sponsorships.getRange({ start: [id, ''], end: [id, LAST] })
      for (const { value } of range) yield value as Sponsorship
    },
    *sponsoredWallets() {
      let last: string | null = null
      for (const key of spaces.sponsorships.getKeys({})) {
        const [id] = key as unknown as [SubWalletId, TxId]
        if (id !== last) yield id
        last = id
      }
    },
  }
}
