import { useKeys, useWallets } from '../queries.js'
import type { Choice } from './filters.js'

/** Names of the keys and wallets on the newest page of each; ids for others. */
export function useNames() {
  const keys = useKeys().data?.keys ?? []
  const wallets = useWallets().data?.wallets ?? []
  const keyNames = new Map(keys.map(({ key_id, name }) => [key_id, name]))
  const walletNames = new Map(wallets.map(({ sub_wallet_id, name }) => [sub_wallet_id, name]))
  return {
    keyName: (id: string) => keyNames.get(id) ?? id,
    walletName: (id: string) => walletNames.get(id) ?? id,
    keyChoice: { name: 'key_id', label: 'Key', options: [...keyNames] } satisfies Choice,
    walletChoice: {
      name: 'sub_wallet_id',
      label: 'Wallet',
      options: [...walletNames],
    } satisfies Choice,
  }
}
