import type { ChainAccess, Chains } from '../chains/access.js'
import type { GasLimit } from '../chains/gas.js'
import { worstCaseFeeWei } from '../chains/gas.js'
import { wordAt } from '../chains/hex.js'
import type { TokenConfig } from '../config/chains.js'
import type { Address } from '../domain/ids.js'
import { type UsdMicros, valueUsdMicros } from '../domain/money.js'
import { type Fault, FaultError, fault } from '../errors/fault.js'
import { isKnown, type KnownPrice, type Price, type PriceSource } from '../pricing/price-source.js'
import type { CallQuote, QuotedCall, Quoter } from './quoter.js'

const NATIVE_DECIMALS = 18
const ERC20_TRANSFER = '0xa9059cbb'
const ERC20_TRANSFER_LENGTH = 2 + 8 + 128
/** Envelope, signature and fields of a type-2 transaction, beside its calldata; generous. */
const ENVELOPE_BYTES = 256

/**
 * Values what can be known without running it: native currency sent to an account without code,
 * and transfers of configured ERC-20 tokens. Everything else has no price here.
 */
export function createTransferQuoter(chains: Chains, prices: PriceSource): Quoter {
  return {
    quote(call) {
      const chain = chains.get(call.chainId)
      if (chain === undefined) return { ok: false, fault: fault('CHAIN_NOT_SUPPORTED') }
      const fees = chain.fees.latest()
      const gas = fees === null ? null : settledGas(chain, call)
      const senderCode = chain.reads.cachedCode(call.from)
      const native = prices.price(call.chainId, 'native')
      const transfer = knownTransfer(chain, call)
      const token = transfer === null ? null : prices.price(call.chainId, tokenAddress(transfer))
      if (
        fees === null ||
        gas === null ||
        senderCode === null ||
        native instanceof Promise ||
        token instanceof Promise ||
        (transfer === null && call.data === '0x' && chain.reads.cachedCode(call.to) === null)
      ) {
        return coldQuote(chain, prices, call)
      }
      return compose(chain, call, { fees: fees.fees, gas, native, token, l1FeeWei: 0n })
    },
  }

  /** The same with every answer waited for; the caches are warm afterwards. */
  async function coldQuote(
    chain: ChainAccess,
    source: PriceSource,
    call: QuotedCall,
  ): Promise<CallQuote> {
    try {
      const transfer = knownTransfer(chain, call)
      const [fees, gas, native, token, l1FeeWei] = await Promise.all([
        chain.fees.quote(),
        chain.gas.gasLimitFor(call),
        source.price(call.chainId, 'native'),
        transfer === null ? null : source.price(call.chainId, tokenAddress(transfer)),
        chain.gas.l1FeeUpperBoundWei(ENVELOPE_BYTES + call.data.length / 2),
        chain.reads.code(call.from),
        chain.reads.code(call.to),
      ])
      return compose(chain, call, { fees: fees.fees, gas, native, token, l1FeeWei })
    } catch (error) {
      if (error instanceof FaultError) return { ok: false, fault: error.fault }
      const why = error instanceof Error ? error.message : 'the chain did not answer'
      return { ok: false, fault: fault('CHAIN_UNAVAILABLE', {}, undefined, why) }
    }
  }

  function settledGas(chain: ChainAccess, call: QuotedCall): GasLimit | null {
    if (call.data === '0x' && chain.reads.cachedCode(call.to) === null) return null
    if (chain.gas.l1FeeUpperBoundWei(ENVELOPE_BYTES + call.data.length / 2) !== 0n) return null
    if (call.data !== '0x' && knownTransfer(chain, call) === null) return null
    const gas = chain.gas.gasLimitFor(call)
    return gas instanceof Promise ? (gas.catch(() => undefined), null) : gas
  }
}

interface Parts {
  readonly fees: { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint }
  readonly gas: GasLimit
  readonly native: Price
  readonly token: Price | null
  readonly l1FeeWei: bigint
}

function compose(chain: ChainAccess, call: QuotedCall, parts: Parts): CallQuote {
  const { native, gas, fees, l1FeeWei } = parts
  if (!isKnown(native)) return unpriced(call, native.unavailable)
  const transfer = knownTransfer(chain, call)
  const toCode = chain.reads.cachedCode(call.to)
  if (transfer === null && (call.data !== '0x' || toCode?.kind === 'contract')) {
    return unpriced(call, 'the call cannot be valued without running it')
  }
  let valueMicros = valueUsdMicros(call.value, NATIVE_DECIMALS, native.value, native.decimals)
  if (transfer !== null) {
    const priced = valueOfTransfer(transfer, parts.token)
    if (typeof priced !== 'bigint') return unpriced(call, priced.why)
    valueMicros += priced
  }
  const gasLimit = gas.ok ? gas.gas : 0n
  const feeWei = worstCaseFeeWei(gasLimit, fees.maxFeePerGas, l1FeeWei)
  return {
    ok: true,
    gasLimit,
    fees: { ...fees },
    valuation: {
      valueMicros,
      gasMicros: valueUsdMicros(feeWei, NATIVE_DECIMALS, native.value, native.decimals),
      nativePrice: native.value,
      nativePriceDecimals: native.decimals,
    },
    unpriced: false,
    problem: gas.ok ? null : problemOf(gas),
    accountHasCode: chain.reads.cachedCode(call.from)?.kind === 'delegated',
  }
}

interface KnownTransfer {
  readonly token: TokenConfig
  readonly amount: bigint
}

/** A well-formed `transfer(address,uint256)` of a configured token, with no native value. */
function knownTransfer(chain: ChainAccess, call: QuotedCall): KnownTransfer | null {
  const { data } = call
  if (data.length !== ERC20_TRANSFER_LENGTH || !data.startsWith(ERC20_TRANSFER)) return null
  const to = call.to.toLowerCase()
  const token = chain.config.tokens.find(({ address }) => address.toLowerCase() === to)
  if (token === undefined) return null
  const word = wordAt(`0x${data.slice(10)}`, 1)
  return word === null ? null : { token, amount: BigInt(`0x${word}`) }
}

function tokenAddress({ token }: KnownTransfer): Address {
  return token.address as Address
}

function valueOfTransfer(
  { token, amount }: KnownTransfer,
  price: Price | null,
): UsdMicros | { readonly why: string } {
  if (price === null || !isKnown(price)) return { why: price?.unavailable ?? 'no-feed' }
  const { value, decimals }: KnownPrice = price
  return valueUsdMicros(amount, token.decimals, value, decimals)
}

function problemOf(gas: Extract<GasLimit, { ok: false }>): Fault {
  return gas.cause === 'reverted'
    ? fault('SIMULATION_REVERTED', { reason: gas.reason })
    : fault('INSUFFICIENT_FUNDS')
}

function unpriced(call: QuotedCall, reason: string): CallQuote {
  return { ok: false, fault: fault('PRICE_UNAVAILABLE', { chain_id: call.chainId, reason }) }
}
