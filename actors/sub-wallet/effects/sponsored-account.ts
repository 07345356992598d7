import type { ChainAccess } from '../../../src/chains/access.js'
import { NATIVE_DECIMALS } from '../../../src/domain/chains.js'
import type { Address } from '../../../src/domain/ids.js'
import { valueUsdMicros } from '../../../src/domain/money.js'
import { fault } from '../../../src/errors/fault.js'
import type { SponsoredQuote } from '../../../src/valuation/sponsored-quote.js'
import type { SponsoredAnew } from '../core/sponsored-messages.js'
import { SPONSORED_GAS_HELD } from '../core/sponsored-state.js'
import type { SubWalletPorts } from '../ports.js'

type Account = Omit<SponsoredAnew, 'quote'>
/** Of what is refused before anybody looks. */
export const UNKNOWN_ACCOUNT: Account = { delegated: true, chainNonce: null, gasMicros: 0n }

/** A quote, with its account as the chain has it. A chain that does not answer is the quote's failure. */
export async function withAccount(
  { chains, log }: Pick<SubWalletPorts, 'chains' | 'log'>,
  chainId: number,
  address: Address,
  delegate: Address,
  quote: SponsoredQuote,
): Promise<SponsoredAnew> {
  const chain = chains.get(chainId)
  if (chain === undefined || !quote.ok) return { ...UNKNOWN_ACCOUNT, quote }
  try {
    return { ...(await accountOf(chain, address, delegate, quote)), quote }
  } catch (error) {
    log.warn({ err: error, chainId }, 'an account could not be read')
    return { ...UNKNOWN_ACCOUNT, quote: { ok: false, fault: fault('CHAIN_UNAVAILABLE') } }
  }
}

async function accountOf(
  { reads, fees }: ChainAccess,
  address: Address,
  delegate: Address,
  quote: Extract<SponsoredQuote, { ok: true }>,
): Promise<Account> {
  const [code, feeQuote] = await Promise.all([reads.code(address), fees.quote()])
  const delegated =
    code.kind === 'delegated' && code.delegate.toLowerCase() === delegate.toLowerCase()
  const { nativePrice, nativePriceDecimals } = quote.valuation
  const gasMicros = valueUsdMicros(
    SPONSORED_GAS_HELD * feeQuote.gasPriceWei,
    NATIVE_DECIMALS,
    nativePrice,
    nativePriceDecimals,
  )
  const chainNonce = delegated ? null : await reads.transactionCount(address, 'latest')
  return { delegated, chainNonce, gasMicros }
}
