import { planDeposit } from '../../defi/plan-vault.js'
import { maxSwapLossOf } from '../../domain/swap-bound.js'
import { fault, refuse } from '../../errors/fault.js'
import type { AgentHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'
import { marketOf, readMarket } from '../sponsored/markets.js'
import { sponsorCall, sponsoredChain } from '../sponsored/sponsor-call.js'

export function defiDeposit(ports: OperationPorts): AgentHandlers['defi_deposit'] {
  return async (context, input) => {
    const account = ports.reader.wallets.byId(context.key.subWalletId)?.address
    if (account === undefined) return refuse(fault('INVALID_KEY'))
    const on = sponsoredChain(ports, context, input.chain_id)
    if (!on.ok) return on
    const { chain } = on.value
    const config = marketOf(chain, input.market_id)
    if (!config.ok) return config
    const fingerprint = `defi_deposit|${input.market_id}|${input.amount}`
    const request = { kind: 'defi_deposit', fingerprint } as const
    return sponsorCall(ports, context, on.value, request, async () => {
      const market = await readMarket(ports, chain, config.value, account)
      if (market === null) return refuse(fault('CHAIN_UNAVAILABLE', { chain_id: chain.config.id }))
      return planDeposit(
        ports,
        market,
        account,
        BigInt(input.amount),
        maxSwapLossOf(ports.reader, context.key),
      )
    })
  }
}
