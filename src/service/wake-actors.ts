import { freezesAddress, subWalletAddress, webhookEndpointAddress } from '../../actors/addresses.js'
import { type OpenGasWallet, openGasWallets } from '../../actors/gas-wallet/open-gas-wallets.js'
import type { Actors } from '../../actors/protocols.js'
import type { Chains } from '../chains/access.js'
import type { Timers } from '../clock/timers.js'
import type { SubWalletId } from '../domain/ids.js'
import type { Reader } from '../store/reader.js'
import { walletUsersOf } from '../store/wallet-users.js'

interface WakeContext {
  readonly actors: Actors
  readonly reader: Reader
  readonly chains: Chains
  readonly timers: Timers
}

/** Loads the actors that have work in progress after a restart, since no request would. */
export async function wakeActors({
  actors,
  reader,
  chains,
  timers,
}: WakeContext): Promise<OpenGasWallet[]> {
  const userOf = walletUsersOf(reader)
  function loadWallet(subWalletId: SubWalletId): void {
    actors.tell(subWalletAddress({ subWalletId, userId: userOf(subWalletId) }), { type: 'load' })
  }
  for (const id of chains.keys()) {
    actors.tell({ kind: 'chain-watcher', id: String(id), userId: null }, { type: 'start' })
  }
  for (const endpoint of reader.webhooks.all()) {
    // An endpoint recovers by itself once loaded; a separate command would interrupt its first
    // delivery.
    actors.tell(webhookEndpointAddress(endpoint), { type: 'tick', nowMs: timers.now() })
  }
  for (const { userId, custody } of reader.freezes.all()) {
    if (custody === 'pending') actors.tell(freezesAddress(userId), { type: 'load' })
  }
  for (const subWalletId of reader.approvals.walletsWithWaiting()) loadWallet(subWalletId)
  for (const subWalletId of reader.grants.walletsWithChanges()) loadWallet(subWalletId)
  // These sub-wallets wait for sponsored calls.
  const gasWallets = await openGasWallets(actors, chains, timers)
  for (const subWalletId of reader.gas.sponsoredWallets()) loadWallet(subWalletId)
  return gasWallets
}
