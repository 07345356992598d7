import type { AccountCode } from '../chains/account-code.js'
import type { FeeQuote } from '../chains/fee-oracle.js'
import type { GasLimit } from '../chains/gas.js'
import type { Address } from '../domain/ids.js'
import { type SideFee, worstCaseFeeWei } from '../domain/transaction-fee.js'
import { type Fault, fault } from '../errors/fault.js'
import { insufficientFunds, type Shortfall } from '../errors/insufficient-funds.js'
import type { Price, PriceSource } from '../pricing/price-source.js'
import type { ChainView } from './chain-view.js'
import { type Funds, lackOfNative } from './funds.js'
import type { PlainTransfer } from './plain-transfer.js'
import { PriceBook } from './price-book.js'
import { completeQuote, ENVELOPE_BYTES } from './quote-parts.js'
import type { CallQuote, QuotedCall } from './quoter.js'

/** Values plain transfers, without a node while fees, gas, code, prices and funds are cached. */
interface PlainQuoter {
  quote(view: ChainView, call: QuotedCall, transfer: PlainTransfer): CallQuote | Promise<CallQuote>
}

interface Parts {
  readonly fees: FeeQuote
  readonly gas: GasLimit
  readonly native: Price
  readonly token: Price | null
  readonly sideFee: SideFee
  readonly senderCode: AccountCode
}

export function createPlainQuoter(source: PriceSource, funds: Funds): PlainQuoter {
  function ask(view: ChainView, call: QuotedCall, transfer: PlainTransfer) {
    const { chain } = view
    const { gas, reads } = chain
    const token = transfer.kind === 'erc20' ? (transfer.token.address as Address) : null
    return {
      fees: chain.fees.latest() ?? chain.fees.quote(),
      gas: gas.gasLimitFor(call),
      native: source.price(call.chainId, 'native'),
      token: token === null ? null : source.price(call.chainId, token),
      sideFee: gas.sideFee(ENVELOPE_BYTES + call.data.length / 2),
      senderCode: reads.cachedCode(call.from) ?? reads.code(call.from),
    }
  }

  function finish(
    view: ChainView,
    call: QuotedCall,
    transfer: PlainTransfer,
    parts: Parts,
  ): CallQuote | Promise<CallQuote> {
    const { gas, fees, sideFee } = parts
    const gasLimit = gas.ok ? gas.gas : 0n
    const maxFeeWei = worstCaseFeeWei(gasLimit, fees.fees.maxFeePerGas, sideFee)
    const compose = (problem: Fault | null) => {
      const prices = new Map<string, Price>().set('native', parts.native)
      const token = transfer.kind === 'erc20' ? transfer.token.address.toLowerCase() : null
      if (token !== null && parts.token !== null) prices.set(token, parts.token)
      const book = new PriceBook(view.priced, prices)
      const native = book.native(call.value)
      const moved =
        transfer.kind === 'erc20' && token !== null ? book.token(token, transfer.amount) : 0n
      return completeQuote(call, book, {
        fees,
        gasLimit,
        maxFeeWei,
        valueMicros: native + (moved ?? 0n),
        exposure: null,
        unpriced: moved === null,
        problem,
        senderCode: parts.senderCode,
        basis: {
          simulated: false,
          prices: book.used,
          movements: [],
          approvals: [],
          recipients: [],
          gasUsed: null,
        },
      })
    }
    if (!gas.ok) {
      const problem = problemOfGas(gas, () =>
        lackOfNative(funds, view.chain, call, fees.fees.maxFeePerGas),
      )
      return problem instanceof Promise ? problem.then(compose) : compose(problem)
    }
    const shortfall = first(
      funds.shortfall(view.chain, call.from, null, call.value + maxFeeWei),
      transfer.kind === 'erc20'
        ? funds.shortfall(view.chain, call.from, transfer.token.address as Address, transfer.amount)
        : null,
    )
    const answer = (lack: Shortfall | null) =>
      compose(lack === null ? null : insufficientFunds(lack))
    return shortfall instanceof Promise ? shortfall.then(answer) : answer(shortfall)
  }

  return {
    quote(view, call, transfer) {
      const { fees, gas, native, token, sideFee, senderCode } = ask(view, call, transfer)
      if (
        !(fees instanceof Promise) &&
        !(gas instanceof Promise) &&
        !(native instanceof Promise) &&
        !(token instanceof Promise) &&
        !(senderCode instanceof Promise) &&
        !(sideFee instanceof Promise)
      ) {
        return finish(view, call, transfer, { fees, gas, native, token, sideFee, senderCode })
      }
      return Promise.all([fees, gas, native, token, sideFee, senderCode] as const).then(
        ([fees, gas, native, token, sideFee, senderCode]) =>
          finish(view, call, transfer, { fees, gas, native, token, sideFee, senderCode }),
      )
    },
  }
}

/** @param lack computes the missing native currency when the node found too little */
export function problemOfGas(
  gas: Extract<GasLimit, { ok: false }>,
  lack: () => Promise<Fault>,
): Fault | Promise<Fault> {
  return gas.cause === 'reverted' ? fault('SIMULATION_REVERTED', { reason: gas.reason }) : lack()
}

type Found = Shortfall | null

function first(a: Found | Promise<Found>, b: Found | Promise<Found>): Found | Promise<Found> {
  if (!(a instanceof Promise) && !(b instanceof Promise)) return a ?? b
  return Promise.all([a, b]).then(([one, other]) => one ?? other)
}
