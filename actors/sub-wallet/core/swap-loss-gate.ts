import type { ApiKey } from '../../../src/domain/api-key.js'
import {
  type Exchange,
  type Hop,
  hopBeyond,
  lossBps,
  worthOfInput,
  worthOfOutput,
} from '../../../src/domain/exchange.js'
import { lesser } from '../../../src/domain/key-policy-forms.js'
import { formatUsd, type UsdMicros } from '../../../src/domain/money.js'
import { type Fault, fault } from '../../../src/errors/fault.js'
import { maxSwapLossBpsOf } from '../../../src/policy/policy.js'
import { type CallAtGates, keyOf } from './call-at-gates.js'
import { mayMoveUnpriced } from './gates.js'
import { ancestorsOf } from './key-tree.js'
import type { SubWalletState } from './state.js'
import type { Turn } from './turn.js'

/**
 * Bounds the loss of a swap, because a swap can pay the maker of the token or of the pool. The
 * minimum output to be signed is compared with the input at the service's own prices, since a venue
 * may give no more than that minimum.
 */
export function passesSwapLoss(turn: Turn, asked: CallAtGates): boolean {
  const { quote, request, token } = asked
  if (!quote.ok || quote.exchange === undefined) return true
  // A call that would fail is answered as such once limit and screening have passed.
  if (quote.terms?.ok !== true) return true
  const { minOut } = quote.terms.value
  const no = swapLossFault(turn.state, keyOf(asked), quote, minOut)
  if (no === null) return true
  turn.refuseSend(token, no, request)
  return false
}

/** Both sides of a sponsored call as it was valued. */
interface ValuedExchange {
  readonly valuation: { readonly valueMicros: UsdMicros }
  /** Whether the input has no price. */
  readonly unpriced: boolean
  readonly exchange?: Exchange | null
}

/** @returns why an output of this size is too small; null when it is enough */
export function swapLossFault(
  state: SubWalletState,
  key: ApiKey,
  { valuation, unpriced, exchange = null }: ValuedExchange,
  minOut: bigint,
): Fault | null {
  const path = [key, ...ancestorsOf(state, key.lineageId)]
  const bound = maxSwapLossOn(path)
  const details = { value_in_usd: formatUsd(valuation.valueMicros), max_loss_bps: bound }
  if (exchange === null) {
    // Keys that may pay out unpriced assets may take them in as well, and nothing bounds the loss.
    if (unpriced || mayMoveUnpriced(path)) return null
    return fault('SWAP_LOSS_EXCEEDED', { ...details, value_out_usd: null }, UNPRICED)
  }
  if (bound === null) return null
  if (lossBps(exchange, minOut) > bound) {
    const value_out_usd = formatUsd(worthOfOutput(exchange, minOut))
    return fault('SWAP_LOSS_EXCEEDED', { ...details, value_out_usd })
  }
  const hop = hopBeyond(exchange, bound)
  return hop === null ? null : hopFault(hop, bound)
}

function hopFault({ tokenIn, tokenOut, exchange, amountOut }: Hop, bound: number): Fault {
  const details = {
    value_in_usd: formatUsd(worthOfInput(exchange)),
    value_out_usd: formatUsd(worthOfOutput(exchange, amountOut)),
    max_loss_bps: bound,
    hop: { token_in: tokenIn, token_out: tokenOut },
  }
  return fault('SWAP_LOSS_EXCEEDED', details, HOP_LOSES)
}

const HOP_LOSES =
  'One pool on the way of this swap gives too little by the prices of the service. Swap a smaller amount, or in two steps.'

const UNPRICED =
  'The output of this call, or a token on its route, has no price, so its loss cannot be bounded. Choose a token with a price, or ask the owner to let the key hold assets without one.'

/**
 * The smallest bound of a key and of the keys above it.
 * @returns basis points; null when unbounded
 */
function maxSwapLossOn(path: readonly Pick<ApiKey, 'policy'>[]): number | null {
  return path.map(({ policy }) => maxSwapLossBpsOf(policy)).reduce(lesser<number>, null)
}
