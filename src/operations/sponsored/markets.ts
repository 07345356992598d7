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

/** A configured market with the current state of its vault. */
export interface Market {
  readonly chain: ChainAccess
  readonly config: MarketConfig
  readonly vault: Address
  readonly state: VaultState
}

/** The requested chains: one, or all that the key may use. */
export function chainsAsked(
  { chains }: OperationPorts,
  { key }: AgentContext,
  chainId: number | undefined,
): ChainAccess[] {
  const wanted = chainId === undefined ? key.allowedChains : [chainId]
  return wanted.map((id) => chains.get(id)).filter((chain) => chain !== undefined)
}

/** A configured market; `state` is null if its vault could not be read. */
export interface ListedMarket extends Omit<Market, 'state'> {
  readonly state: VaultState | null
}

/**
 * Lists every market of these chains, as `account` sees it. None is left out: a vault that could
 * not be read has a null state.
 * @param view returns what is shown of each
 * @returns refusals: `CHAIN_UNAVAILABLE` if no chain answered
 */
export async function listMarkets<T>(
  ports: OperationPorts,
  asked: readonly ChainAccess[],
  account: Address,
  view: (market: ListedMarket) => Promise<readonly T[]>,
): Promise<Result<T[]>> {
  const viewsOf = async (chain: ChainAccess, stateOf: (config: MarketConfig) => Read | null) => {
    const shown = chain.config.markets.map(async (config) => {
      const state = (await stateOf(config))?.state ?? null
      return view({ chain, config, vault: toChecksumAddress(config.vault), state })
    })
    return (await Promise.all(shown)).flat()
  }
  const read = asked.map((chain) =>
    viewsOf(chain, (config) => readMarket(ports, chain, config, account)),
  )
  const answers = await Promise.allSettled(read)
  const failure = answers.find((answer) => answer.status === 'rejected')
  if (failure !== undefined && answers.every(({ status }) => status === 'rejected')) {
    const { reason } = failure
    if (reason instanceof FaultError) return refuse(reason.fault)
    return refuse(fault('CHAIN_UNAVAILABLE', {}, undefined, String(reason)))
  }
  const views = asked.map((chain, i) => read[i]?.catch(() => viewsOf(chain, () => null)) ?? [])
  return ok((await Promise.all(views)).flat())
}

type Read = Promise<Market | null>

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

/** Pause between two samples of share prices for the yields of markets. */
const SAMPLE_MS = 5 * 60_000
const NOBODY: Address = '0x0000000000000000000000000000000000000001'

/** Samples every market's share price from now on. @returns a function that stops it */
export function sampleSharePrices(ports: OperationPorts): () => void {
  const { timers } = ports
  let alarm: Alarm
  const sample = () => {
    void listMarkets(ports, [...ports.chains.values()], NOBODY, async () => [])
    alarm = timers.at(timers.now() + SAMPLE_MS, sample)
  }
  sample()
  return () => alarm.cancel()
}

export function vaultKey({ config }: ChainAccess, vault: Address): string {
  return `${config.id}:${vault}`
}

/** Decimal USD; null without a price. */
export async function usdOf(
  ports: OperationPorts,
  { chain, state }: Pick<Market, 'chain' | 'state'>,
  assets: bigint,
): Promise<string | null> {
  const value = await valueOfInput(ports, chain, state.asset, assets)
  return value.ok && !value.value.unpriced ? formatUsd(value.value.micros) : null
}

export function marketOf(chain: ChainAccess, marketId: string): Result<MarketConfig> {
  const found = chain.config.markets.find(({ market_id }) => market_id === marketId)
  if (found !== undefined) return ok(found)
  const details = { chain_id: chain.config.id, market_id: marketId }
  return refuse(fault('NOT_FOUND', details, 'This chain has no such market.'))
}
