import type { ChainAccess } from '../../../src/chains/access.js'
import { NATIVE_DECIMALS } from '../../../src/domain/chains.js'
import type { Address } from '../../../src/domain/ids.js'
import { valueUsdMicros } from '../../../src/domain/money.js'
import { fault } from '../../../src/errors/fault.js'
import type { PreparedSponsored, SponsorCommand } from '../core/sponsored-messages.js'
import { SPONSORED_GAS_HELD } from '../core/sponsored-state.js'
import type { SubWalletState } from '../core/state.js'
import type { SubWalletPorts } from '../ports.js'
import { firstAnswer } from './prepare-send.js'

type Account = Pick<PreparedSponsored, 'delegated' | 'chainNonce' | 'gasMicros'>
const UNKNOWN: Account = { delegated: true, chainNonce: null, gasMicros: 0n }

/** Adds whether the account has delegated, its nonce if not, and what its gas may cost us. */
export async function prepareSponsored(
  ports: SubWalletPorts,
  state: SubWalletState,
  command: SponsorCommand,
): Promise<PreparedSponsored> {
  const first = firstAnswer(ports, state, command)
  const finish = (account: Account, quote: SponsorCommand['quote']): PreparedSponsored => ({
    ...command,
    ...account,
    quote,
    type: 'prepared-sponsor-call',
    nowMs: ports.timers.now(),
    first,
  })
  const chain = ports.chains.get(command.chainId)
  const { wallet } = state
  const { quote } = command
  if (first !== null || chain === undefined || wallet === null || !quote.ok) {
    return finish(UNKNOWN, quote)
  }
  try {
    return finish(await accountOf(chain, wallet.address, command, quote), quote)
  } catch (error) {
    ports.log.warn({ err: error, chainId: command.chainId }, 'an account could not be read')
    return finish(UNKNOWN, { ok: false, fault: fault('CHAIN_UNAVAILABLE') })
  }
}

async function accountOf(
  { reads, fees }: ChainAccess,
  address: Address,
  { delegate }: SponsorCommand,
  quote: Extract<SponsorCommand['quote'], { ok: true }>,
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
