import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { CHAIN_COUNT, CHAIN_IDS } from '../domain/chains.js'
import { defaultMaxGasLimit } from '../domain/gas-limits.js'

/**
 * An operator's settings for each chain, from `chains.json`. Every address is asserted on chain at
 * the start (code, decimals, symbol). A mistake causes a warning; if it would change the value of
 * amounts (src/pricing/facts.ts), nothing is valued, so that it stops calls and does not weaken
 * caps.
 */
const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, { error: 'is not an address of 20 bytes in hex' })

/** A node's URL often holds a secret: `$NAME` reads it from that environment variable. */
const RPC_VARIABLE = /^\$([A-Z][A-Z0-9_]{0,63})$/
const rpcUrl = z.union([z.url(), z.string().regex(RPC_VARIABLE)], {
  error: 'is neither a URL nor the name of a variable, as in "$RPC_URL_BASE"',
})

const feed = z.strictObject({
  /** Chainlink AggregatorV3 proxy that answers `latestRoundData` in USD. */
  address,
  /** An older answer does not count as a price. */
  max_age_seconds: z
    .int()
    .min(1)
    .max(7 * 86_400),
})

const token = z.strictObject({
  address,
  symbol: z.string().min(1).max(32),
  decimals: z.int().min(0).max(36),
  feed: feed.nullable(),
  /**
   * Gas limit that covers any `transfer` of this token with room to spare; null asks the chain
   * for an estimate each time. Unused gas is not paid, but counts as reserved until final.
   */
  transfer_gas_limit: z.int().min(30_000).max(1_000_000).nullable(),
})

const market = z.strictObject({
  market_id: z.string().min(1).max(64),
  protocol: z.string().min(1).max(64),
  name: z.string().min(1).max(128),
  vault: address,
})

function areDistinct(names: readonly string[]): boolean {
  return new Set(names).size === names.length
}

const sanctionsOracle = z.strictObject({
  address,
  /** The block of its deployment; null searches for it, which needs a node with old state. */
  from_block: z.int().min(0).nullable().default(null),
  /** A mirror of an older block is stale, and a live service stops writes. */
  max_age_seconds: z
    .int()
    .min(60)
    .max(30 * 86_400)
    .default(86_400),
})

const chain = z.strictObject({
  id: z.literal(CHAIN_IDS, `not one of the ${CHAIN_COUNT} supported chains`),
  name: z.string().min(1).max(64),
  native_symbol: z.string().min(1).max(16),
  rpc_urls: z.array(rpcUrl).min(1).max(8),
  /** Blocks on top of a transaction's block before it counts as confirmed; 1 = mined. */
  confirmations: z.int().min(1).max(1_000),
  block_time_ms: z.int().min(50).max(60_000),
  /** The service never signs a higher maxFeePerGas, even to replace a stuck transaction. */
  max_fee_per_gas_ceiling_wei: z.string().regex(/^\d{1,30}$/),
  /**
   * The service never signs a higher gas limit; absent for the chain's default
   * (src/domain/gas-limits.ts). The registry pins it.
   */
  max_gas_limit: z.int().min(21_000).max(1_000_000_000).optional(),
  wrapped_native: address,
  native_feed: feed,
  sequencer_uptime_feed: address.nullable(),
  router: address.nullable(),
  delegate: address.nullable(),
  swap: z.strictObject({ factory: address, router: address, quoter: address }).nullable(),
  // Two entries for one token could give an amount two meanings.
  tokens: z
    .array(token)
    .max(256)
    .refine((all) => areDistinct(all.map((it) => it.address.toLowerCase())), 'lists a token twice'),
  markets: z
    .array(market)
    .max(256)
    .refine((all) => areDistinct(all.map((it) => it.market_id)), 'lists a market_id twice'),
  /**
   * The oracle mirrored as a screening list. Absent uses the chain's known one in live mode; null
   * uses none.
   */
  sanctions_oracle: sanctionsOracle.nullable().optional(),
})

const chainsFile = z.strictObject({
  chains: z
    .array(chain)
    .min(1)
    .max(CHAIN_IDS.length)
    .refine((all) => areDistinct(all.map(({ id }) => String(id))), 'lists a chain twice'),
})

/** One chain of `chains.json`, with wire names because operators write it. */
export type ChainConfig = z.infer<typeof chain>
export type TokenConfig = z.infer<typeof token>
export type SanctionsOracleConfig = z.infer<typeof sanctionsOracle>
export type ChainsFile = z.infer<typeof chainsFile>

export function maxGasLimitOf({ id, max_gas_limit }: ChainConfig): bigint {
  return max_gas_limit === undefined ? defaultMaxGasLimit(id) : BigInt(max_gas_limit)
}

type Environment = Readonly<Record<string, string | undefined>>

/** @throws Error that names the file and each offending path, or the variable that is not set */
export function readChainsFile(path: string, env: Environment = process.env): ChainsFile {
  const { chains } = readChainPolicies(path)
  return {
    chains: chains.map((chain, at) => ({
      ...chain,
      rpc_urls: chain.rpc_urls.map((text) => urlOf(text, env, `${path}: chains[${at}].rpc_urls`)),
    })),
  }
}

/**
 * The same for commands that contact no node: variables may be unset.
 * @throws Error that names the file and each offending path
 */
export function readChainPolicies(path: string): ChainsFile {
  const parsed = chainsFile.safeParse(JSON.parse(readFileSync(path, 'utf8')))
  if (!parsed.success) throw new Error(`${path}: ${z.prettifyError(parsed.error)}`)
  return parsed.data
}

/** @throws Error that never repeats the variable's value */
function urlOf(text: string, env: Environment, where: string): string {
  const [, name] = RPC_VARIABLE.exec(text) ?? []
  if (name === undefined) return text
  const url = env[name] ?? ''
  if (url === '') throw new Error(`${where}: the environment has no ${name}`)
  if (!URL.canParse(url)) throw new Error(`${where}: ${name} of the environment is not a URL`)
  return url
}
