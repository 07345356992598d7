import { gasWalletKey } from '../../../src/domain/gas-wallets.js'
import type { GasWalletId } from '../../../src/domain/ids.js'
import type { GasWalletCommand } from '../core/messages.js'
import type { GasWalletPorts } from '../ports.js'

export function makeKey(
  { coSigner, cell, log }: GasWalletPorts,
  id: GasWalletId,
  self: (command: GasWalletCommand) => void,
): void {
  coSigner.createServiceWallet(gasWalletKey(id, cell)).then(
    ({ walletId, address, epoch }) =>
      self({ type: 'key-made', wallet: { walletId, address, epoch } }),
    (error: unknown) => {
      log.warn({ err: error, gasWallet: id }, 'the key of a gas wallet could not be made')
      self({ type: 'key-made', wallet: null })
    },
  )
}
