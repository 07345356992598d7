import { toChecksumAddress } from '../../api/parse-address.js'
import type { ChainAccess } from '../../chains/access.js'
import type { Alarm } from '../../clock/timers.js'
import type { ChainConfig } from '../../config/chains.js'
import { valueOfInput } from '../../defi/input-value.js'
import type { VaultState } from '../../defi/vault-venue.js'
import type { Address } from '../../domain/ids.js'
import { formatUsd } from '../../domain/money.js'
import { FaultError, fault, ok, type Result, refuse } from '../../errors/fault.js'
import type { AgentContext } from '../context.js'
import type { OperationPorts } from '../ports.js'

type MarketConfig = ChainConfig['markets'][number]

/** A market of the configuration, as its vault is now. */
export interface Market {
  readonly chain: ChainAccess
  readonly config: MarketConfig
  readonly vault: Address
  readonly state: VaultState
}

/** The chains asked about: one, or all that the key may use. */
export function chainsAsked(
  { chains }: OperationPorts,
  { key }: AgentContext,
  chainId: number | undefined,
): ChainAccess[] {
  const wanted = chainId === undefined ? key.allowedChains : [chainId]
  return wanted.map((id) => chains.get(id)).filter((chain) => chain !== undefined)
}

/**
 * Every market of these chains, as `account` sees it. A vault that does not answer is left out, and
 * so is a chain that does not while another one does.
 * @returns refusals: `CHAIN_UNAVAILABLE`
 */
export async function readMarkets(
  ports: OperationPorts,
  asked: readonly ChainAccess[],
  account: Address,
): Promise<Result<Market[]>> {
  const answers = await Promise.allSettled(
    asked.map((chain) =>
      Promise.all(chain.config.markets.map((market) => readMarket(ports, chain, market, account))),
    ),
  )
  const markets: Market[] = []
  let failure: PromiseRejectedResult | null = null
  for (const answer of answers) {
    if (answer.status === 'rejected') failure ??= answer
    else markets.push(...answer.value.filter((market) => market !== null))
  }
  if (failure !== null && markets.length === 0) {
    const { reason } = failure
    if (reason instanceof FaultError) return refuse(reason.fault)
    return refuse(fault('CHAIN_UNAVAILABLE', {}, undefined, String(reason)))
  }
  return ok(markets)
}

export async function readMarket(
  { vaultVenue, sharePrices, nowMs }: OperationPorts,
  chain: ChainAccess,
  config: MarketConfig,
  account: Address,
): Promise<Market | null> {
  const vault = toChecksumAddress(config.vault)
  const state = await vaultVenue.read(chain, vault, account)
  if (state === null) return null
  sharePrices.record(vaultKey(chain, vault), state.sharePrice, nowMs())
  return { chain, config, vault, state }
}

/** Between two looks at share prices for the yields of markets. */
const SAMPLE_MS = 5 * 60_000
const NOBODY: Address = '0x0000000000000000000000000000000000000001'

/** Samples every market's share price from now on. @returns what ends it */
export function sampleSharePrices(ports: OperationPorts): () => void {
  const { timers } = ports
  let alarm: Alarm
  const sample = () => {
    void readMarkets(ports, [...ports.chains.values()], NOBODY)
    alarm = timers.at(timers.now() + SAMPLE_MS, sample)
  }
  sample()
  return () => alarm.cancel()
}

export function vaultKey({ config }: ChainAccess, vault: Address): string {
  return `${config.id}:${vault}`
}

/** Decimal USD; null while there is no price. */
export async function usdOf(
  ports: OperationPorts,
  { chain, state }: Market,
  assets: bigint,
): Promise<string | null> {
  const value = await valueOfInput(ports, chain, state.asset, assets)
  return value.ok && !value.value.unpriced ? formatUsd(value.value.micros) : null
}

export function marketOf(chain: ChainAccess, marketId: string): Result<MarketConfig> {
  const found = chain.config.markets.find(({ market_id }) => market_id === marketId)
  if (found !== undefined) return ok(found)
  const details = { chain_id: chain.config.id, market_id: marketId }
  return refuse(fault('NOT_FOUND', details, 'There is no such market on this chain.'))
}
