import type { ChainAccess, Chains } from '../chains/access.js'
import type { Exposure } from '../domain/exposure.js'
import type { Address } from '../domain/ids.js'
import { formatUsd, type UsdMicros } from '../domain/money.js'
import { fault, ok, type Result, refuse } from '../errors/fault.js'
import type { Approval, Movement, QuotedCall, Quoter, Recipient } from './quoter.js'

/** `POST /api/tx/simulate` without the parts that depend on the key: limits and screening. */
interface TransactionForecast {
  readonly answer: Omit<ForecastAnswer, 'spend_usd'>
  /** Value and worst-case gas: what a send of this call would reserve, without any credit. */
  readonly spendMicros: UsdMicros
  readonly gasMicros: UsdMicros
  /** Gas limit × highest fee. */
  readonly gasWei: bigint
  /** Null when the value does not depend on who paid for an allowance. */
  readonly exposure: Exposure | null
  /** True when part of the outflow has no price and is not in `spendMicros`. */
  readonly unpriced: boolean
  /** Screened in addition to the calldata. */
  readonly recipients: readonly Recipient[]
}

/** Wire names and shapes (CONTRACT.md, "Sending"). */
interface ForecastAnswer {
  readonly success: boolean
  /** Decimal; the gas limit when nothing could be simulated. */
  readonly gas_used: string
  readonly max_fee_native_wei: string
  readonly spend_usd: string
  readonly asset_changes: readonly AssetChange[]
  readonly approvals: readonly ApprovalChange[]
  readonly revert_reason: string | null
}

interface AssetChange {
  /** Null for native currency. */
  readonly token: Address | null
  readonly symbol: string
  readonly from: Address
  readonly to: Address
  readonly amount: string
  readonly usd_value: string | null
}

interface ApprovalChange {
  readonly token: Address
  readonly spender: Address
  /** In smallest units; `all` for every token of a collection. */
  readonly amount: string
  readonly usd_value: string | null
}

/** The most unknown tokens whose symbols are read; others stay empty. */
const SYMBOLS_ASKED_MAX = 16

/**
 * Predicts what a call would do. Signs nothing and consumes nothing.
 * @returns PRICE_UNAVAILABLE when it cannot be valued, CHAIN_UNAVAILABLE when no node answers,
 * CHAIN_NOT_SUPPORTED
 */
export async function simulateTransaction(
  deps: { readonly chains: Chains; readonly quoter: Quoter },
  call: QuotedCall,
): Promise<Result<TransactionForecast>> {
  const chain = deps.chains.get(call.chainId)
  if (chain === undefined) return refuse(fault('CHAIN_NOT_SUPPORTED'))
  const quote = await deps.quoter.forecast(call)
  if (!quote.ok) return refuse(quote.fault)
  const { valuation, problem, basis, gasLimit, fees, unpriced } = quote
  const spendMicros = valuation.valueMicros + valuation.gasMicros
  const symbols = await symbolsOf(chain, basis.movements)
  const reason = problem?.details.reason
  return ok({
    answer: {
      success: problem === null,
      gas_used: (basis.gasUsed ?? gasLimit).toString(),
      max_fee_native_wei: basis.maxFeeWei.toString(),
      asset_changes: basis.movements.map((movement) => changeOf(movement, symbols)),
      approvals: basis.approvals.map(approvalOf),
      revert_reason:
        problem === null ? null : typeof reason === 'string' ? reason : problem.message,
    },
    spendMicros,
    gasMicros: valuation.gasMicros,
    gasWei: gasLimit * fees.maxFeePerGas,
    exposure: quote.exposure ?? null,
    unpriced,
    recipients: basis.recipients,
  })
}

function changeOf(
  { token, from, to, amount, valueMicros }: Movement,
  symbols: ReadonlyMap<Address | null, string>,
): AssetChange {
  return {
    token,
    symbol: symbols.get(token) ?? '',
    from,
    to,
    amount: amount.toString(),
    usd_value: usd(valueMicros),
  }
}

function approvalOf({ token, spender, amount, valueMicros }: Approval): ApprovalChange {
  return { token, spender, amount: amount.toString(), usd_value: usd(valueMicros) }
}

function usd(micros: UsdMicros | null): string | null {
  return micros === null ? null : formatUsd(micros)
}

/** The configuration's symbols; for other tokens those that they report. */
async function symbolsOf(
  { config, reads }: ChainAccess,
  movements: readonly Movement[],
): Promise<ReadonlyMap<Address | null, string>> {
  const configured = new Map(config.tokens.map((it) => [it.address.toLowerCase(), it.symbol]))
  const symbols = new Map<Address | null, string>([[null, config.native_symbol]])
  const unknown = new Set<Address>()
  for (const { token } of movements) {
    if (token === null) continue
    const symbol = configured.get(token.toLowerCase())
    if (symbol !== undefined) symbols.set(token, symbol)
    else unknown.add(token)
  }
  const asked = [...unknown].slice(0, SYMBOLS_ASKED_MAX)
  // A token without a symbol is shown without one; nothing depends on it.
  const answers = await Promise.all(
    asked.map((token) => reads.tokenMetadata(token).catch(() => null)),
  )
  asked.forEach((token, i) => {
    symbols.set(token, answers[i]?.symbol ?? '')
  })
  return symbols
}
