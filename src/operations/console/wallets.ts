import { CUSTODY_ADDRESS, subWalletAddress } from '../../../actors/addresses.js'
import { ID_PREFIX, type SubWalletId } from '../../domain/ids.js'
import type { SubWallet } from '../../domain/wallet.js'
import { newId } from '../../store/new-id.js'
import type { ConsoleHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'
import { type Creation, creationId } from './created-once.js'
import { pageOptions } from './page.js'
import { walletView } from './views.js'

const NAMED = { operation: 'create_wallet', prefix: ID_PREFIX.subWallet } as const

export function walletCreation({
  reader,
  freezes,
}: OperationPorts): Creation<ReturnType<typeof walletView>> {
  return {
    ...NAMED,
    newestBelow(userId, cursor) {
      const [newest] = reader.fresh().wallets.ofUser(userId, { limit: 1, cursor }).items
      if (newest === undefined) return null
      const { wallet } = newest
      return { id: wallet.subWalletId, value: walletView(wallet, freezes.of(userId)) }
    },
    isTaken: (id) => reader.wallets.byId(id as SubWalletId) !== undefined,
  }
}

/** The address is shown only once both domains hold two durable copies of their share. */
export function createWallet({
  actors,
  freezes,
  timers,
  nowMs,
}: OperationPorts): ConsoleHandlers['create_wallet'] {
  return async (context, input) => {
    const { userId, personId: byPerson, requestId } = context
    const named = creationId(NAMED, context, input) as SubWalletId | null
    const subWalletId = named ?? newId<SubWalletId>(ID_PREFIX.subWallet, timers)
    const keyed = await actors.ask(CUSTODY_ADDRESS, {
      type: 'create-wallet-key',
      subWalletId,
      userId,
    })
    if (!keyed.ok) return keyed
    const { address, epoch } = keyed.value
    const wallet: SubWallet = {
      subWalletId,
      userId,
      name: input.name,
      address,
      epoch,
      createdAtMs: nowMs(),
    }
    const command = { type: 'create-wallet', wallet, requestId, byPerson } as const
    const stored = await actors.ask(subWalletAddress(wallet), command)
    if (!stored.ok) return stored
    return { ok: true, status: 201, value: walletView(stored.value, freezes.of(userId)) }
  }
}

export function listWallets({ reader, freezes }: OperationPorts): ConsoleHandlers['list_wallets'] {
  return ({ userId }, input) => {
    const { search } = input
    const options = pageOptions(input)
    const { items, nextCursor } =
      search === undefined
        ? reader.wallets.ofUser(userId, options)
        : reader.wallets.named(userId, search, options)
    const wallets = items.map(({ wallet }) => walletView(wallet, freezes.of(userId)))
    return { ok: true, value: { wallets, next_cursor: nextCursor } }
  }
}
