import type { ChainAccess } from '../../../src/chains/access.js'
import { NATIVE_DECIMALS } from '../../../src/domain/chains.js'
import type { Address } from '../../../src/domain/ids.js'
import { valueUsdMicros } from '../../../src/domain/money.js'
import { type GasFlow, gasAtFirst } from '../../../src/domain/sponsored-gas.js'
import type { SponsoredKind } from '../../../src/domain/sponsorship.js'
import { worstCaseFeeWei } from '../../../src/domain/transaction-fee.js'
import { fault } from '../../../src/errors/fault.js'
import type { SponsoredQuote } from '../../../src/valuation/sponsored-quote.js'
import type { SponsoredJudgedAgain } from '../core/sponsored-messages.js'
import type { SubWalletPorts } from '../ports.js'

type Account = Omit<SponsoredJudgedAgain, 'quote'>
/** Stands for the account of a call that is refused before the chain is read. */
export const UNKNOWN_ACCOUNT: Account = { delegated: true, chainNonce: null, gasMicros: 0n }

/** The account and the kind of call. */
interface Caller {
  readonly chainId: number
  readonly kind: SponsoredKind
  readonly account: Address
  readonly delegate: Address
}

/**
 * Adds the account's state on chain to a quote. When the chain does not answer, the quote fails.
 */
export async function withAccount(
  { chains, log }: Pick<SubWalletPorts, 'chains' | 'log'>,
  caller: Caller,
  quote: SponsoredQuote,
): Promise<SponsoredJudgedAgain> {
  const { chainId } = caller
  const chain = chains.get(chainId)
  if (chain === undefined || !quote.ok) return { ...UNKNOWN_ACCOUNT, quote }
  try {
    return { ...(await accountOf(chain, caller, quote)), quote }
  } catch (error) {
    log.warn({ err: error, chainId }, 'an account could not be read')
    return { ...UNKNOWN_ACCOUNT, quote: { ok: false, fault: fault('CHAIN_UNAVAILABLE') } }
  }
}

/**
 * The size of an intent and both signatures around the venue's calldata, and of the transaction.
 */
const EXECUTION_BYTES = 1_024

async function accountOf(
  chain: ChainAccess,
  { kind, account, delegate }: Caller,
  { terms, valuation }: Extract<SponsoredQuote, { ok: true }>,
): Promise<Account> {
  const { reads } = chain
  const dataBytes = terms.ok ? terms.value.data.length / 2 : 0
  const [code, gasWei] = await Promise.all([
    reads.code(account),
    gasWeiAtFirst(chain, kind, EXECUTION_BYTES + dataBytes),
  ])
  const delegated =
    code.kind === 'delegated' && code.delegate.toLowerCase() === delegate.toLowerCase()
  const { nativePrice, nativePriceDecimals } = valuation
  const gasMicros = valueUsdMicros(gasWei, NATIVE_DECIMALS, nativePrice, nativePriceDecimals)
  const chainNonce = delegated ? null : await reads.transactionCount(account, 'latest')
  return { delegated, chainNonce, gasMicros }
}

/** The most that the gas of a flow costs at present fees, used until it has been estimated. */
export async function gasWeiAtFirst(
  { fees, gas }: Pick<ChainAccess, 'fees' | 'gas'>,
  flow: GasFlow,
  txBytes: number,
): Promise<bigint> {
  const [quote, sideFee] = await Promise.all([fees.quote(), gas.sideFee(txBytes)])
  return worstCaseFeeWei(gasAtFirst(flow), quote.fees.maxFeePerGas, sideFee)
}
