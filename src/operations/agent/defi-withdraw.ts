import { planWithdrawal } from '../../defi/plan-vault.js'
import { maxSwapLossOf } from '../../domain/swap-bound.js'
import { fault, refuse } from '../../errors/fault.js'
import type { AgentHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'
import { marketOf, readMarket } from '../sponsored/markets.js'
import { sponsorCall, sponsoredChain } from '../sponsored/sponsor-call.js'

export function defiWithdraw(ports: OperationPorts): AgentHandlers['defi_withdraw'] {
  return async (context, input) => {
    const account = ports.reader.wallets.byId(context.key.subWalletId)?.address
    if (account === undefined) return refuse(fault('INVALID_KEY'))
    const on = sponsoredChain(ports, context, input.chain_id)
    if (!on.ok) return on
    const { chain, router } = on.value
    const config = marketOf(chain, input.market_id)
    if (!config.ok) return config
    const fingerprint = `defi_withdraw|${input.market_id}|${input.shares}`
    const request = { kind: 'defi_withdraw', fingerprint } as const
    return sponsorCall(ports, context, on.value, request, async () => {
      const market = await readMarket(ports, chain, config.value, account)
      if (market === null) return refuse(fault('CHAIN_UNAVAILABLE', { chain_id: chain.config.id }))
      // "max" of no shares asks for one share, and is refused as one too many.
      const held = market.state.shares > 0n ? market.state.shares : 1n
      const shares = input.shares === 'max' ? held : BigInt(input.shares)
      return planWithdrawal(
        ports,
        market,
        account,
        router,
        shares,
        maxSwapLossOf(ports.reader, context.key),
      )
    })
  }
}
