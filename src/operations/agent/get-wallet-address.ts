import { fault } from '../../errors/fault.js'
import type { AgentHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'

export function getWalletAddress({ reader }: OperationPorts): AgentHandlers['get_wallet_address'] {
  return ({ key }) => {
    const wallet = reader.wallets.byId(key.subWalletId)
    if (wallet === undefined) return { ok: false, fault: fault('INVALID_KEY') }
    const { address, subWalletId } = wallet
    return { ok: true, value: { addresses: { evm: address }, sub_wallet_id: subWalletId } }
  }
}
