import { toChecksumAddress } from '../../api/parse-address.js'
import { SLIPPAGE_BPS_DEFAULT } from '../../api/swap.js'
import { leastOutput, planSwap } from '../../defi/plan-swap.js'
import { NATIVE_TOKEN } from '../../domain/chains.js'
import { maxSwapLossOf } from '../../domain/swap-bound.js'
import { fault, refuse } from '../../errors/fault.js'
import type { AgentHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'
import { usdcForGas } from '../sponsored/gas-token.js'
import { sponsorCall, sponsoredChain } from '../sponsored/sponsor-call.js'

/**
 * Swaps USDC for native currency, so that a wallet that holds only USDC can pay gas (Base only).
 */
export function gasSwap(ports: OperationPorts): AgentHandlers['gas_swap'] {
  return async (context, input) => {
    const account = ports.reader.wallets.byId(context.key.subWalletId)?.address
    if (account === undefined) return refuse(fault('INVALID_KEY'))
    const on = sponsoredChain(ports, context, input.chain_id)
    if (!on.ok) return on
    const { chain } = on.value
    const usdc = usdcForGas(chain)
    if (!usdc.ok) return usdc
    const tokenIn = toChecksumAddress(usdc.value)
    const wanted = { tokenIn, tokenOut: NATIVE_TOKEN, amountIn: BigInt(input.amount_in) }
    const fingerprint = `gas_swap|${input.amount_in}`
    return sponsorCall(ports, context, on.value, { kind: 'gas_swap', fingerprint }, () =>
      planSwap(ports, chain, account, wanted, {
        minOutOf: (out) => leastOutput(out, SLIPPAGE_BPS_DEFAULT),
        slippageBps: null,
        maxLossBps: maxSwapLossOf(ports.reader, context.key),
      }),
    )
  }
}
