import type { Address } from '../../domain/ids.js'
import { fault } from '../../errors/fault.js'
import { answerFromChain } from '../chain-answer.js'
import type { AgentHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'

export function getNativeBalance(ports: OperationPorts): AgentHandlers['get_native_balance'] {
  return ({ key }, { chain_id }) => {
    const owner = ports.reader.wallets.byId(key.subWalletId)?.address
    if (owner === undefined) return { ok: false, fault: fault('INVALID_KEY') }
    return readNativeBalance(ports, owner, chain_id)
  }
}

export function readNativeBalance(ports: OperationPorts, owner: Address, chainId: number) {
  return answerFromChain(ports, chainId, async ({ reads, config }) => {
    const balance = (await reads.nativeBalance(owner)).toString()
    const { native_symbol: symbol } = config
    return { ok: true, value: { chain_id: chainId, balance, decimals: 18, symbol } }
  })
}
