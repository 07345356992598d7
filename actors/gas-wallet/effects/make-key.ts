import { gasWalletKey } from '../../../src/domain/gas-wallets.js'
import type { GasWalletId } from '../../../src/domain/ids.js'
import type { GasWalletCommand } from '../core/messages.js'
import type { GasWalletPorts } from '../ports.js'
import { serviceWallet } from '../record.js'

export function makeKey(
  { coSigner, log }: GasWalletPorts,
  id: GasWalletId,
  self: (command: GasWalletCommand) => void,
): void {
  coSigner.createServiceWallet(gasWalletKey(id)).then(
    (certificate) => self({ type: 'key-made', wallet: serviceWallet(certificate) }),
    (error: unknown) => {
      log.warn({ err: error, gasWallet: id }, 'the key of a gas wallet could not be made')
      self({ type: 'key-made', wallet: null })
    },
  )
}
