import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { CHAIN_COUNT, CHAIN_IDS } from '../domain/chains.js'

/**
 * What an operator says about each chain. Read from `chains.json`; every address in it is
 * asserted on chain at boot (code, decimals, symbol). A slip is warned of, and where it would change
 * what amounts are worth (src/pricing/facts.ts) nothing is valued, so that it stops calls, not caps.
 */
const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, { error: 'is no address of 20 bytes in hex' })

/** A node's URL often holds a secret: `$NAME` has it come from that variable of the environment. */
const RPC_VARIABLE = /^\$([A-Z][A-Z0-9_]{0,63})$/
const rpcUrl = z.union([z.url(), z.string().regex(RPC_VARIABLE)], {
  error: 'is neither a URL nor the name of a variable, as in "$RPC_URL_BASE"',
})

const feed = z.strictObject({
  /** Chainlink AggregatorV3 proxy that answers `latestRoundData` in USD. */
  address,
  /** An answer older than this many seconds is no price. */
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
  /** Block of its deployment; null has it searched for, which takes a node with old state. */
  from_block: z.int().min(0).nullable().default(null),
  /** A mirror of a block older than this is stale, and a live service stops writing. */
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
  /** The service never signs a higher maxFeePerGas, not even to replace a stuck transaction. */
  max_fee_per_gas_ceiling_wei: z.string().regex(/^\d{1,30}$/),
  wrapped_native: address,
  native_feed: feed,
  sequencer_uptime_feed: address.nullable(),
  router: address.nullable(),
  delegate: address.nullable(),
  swap: z.strictObject({ factory: address, router: address, quoter: address }).nullable(),
  // Two entries of one token would be two answers to what an amount of it is.
  tokens: z
    .array(token)
    .max(256)
    .refine((all) => areDistinct(all.map((it) => it.address.toLowerCase())), 'lists a token twice'),
  markets: z
    .array(market)
    .max(256)
    .refine((all) => areDistinct(all.map((it) => it.market_id)), 'lists a market_id twice'),
  /** Mirrored as a screening list. Absent: the chain's known one when live; null: none. */
  sanctions_oracle: sanctionsOracle.nullable().optional(),
})

const chainsFile = z.strictObject({
  chains: z
    .array(chain)
    .min(1)
    .max(CHAIN_IDS.length)
    .refine((all) => areDistinct(all.map(({ id }) => String(id))), 'lists a chain twice'),
})

/** One chain of `chains.json`; wire names, because operators write it. */
export type ChainConfig = z.infer<typeof chain>
export type TokenConfig = z.infer<typeof token>
export type SanctionsOracleConfig = z.infer<typeof sanctionsOracle>
export type ChainsFile = z.infer<typeof chainsFile>

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
 * The same for what asks no node: variables need not be set where it runs.
 * @throws Error that names the file and each offending path
 */
export function readChainPolicies(path: string): ChainsFile {
  const parsed = chainsFile.safeParse(JSON.parse(readFileSync(path, 'utf8')))
  if (!parsed.success) throw new Error(`${path}: ${z.prettifyError(parsed.error)}`)
  return parsed.data
}

/** @throws Error that never repeats what the variable holds */
function urlOf(text: string, env: Environment, where: string): string {
  const [, name] = RPC_VARIABLE.exec(text) ?? []
  if (name === undefined) return text
  const url = env[name] ?? ''
  if (url === '') throw new Error(`${where}: the environment has no ${name}`)
  if (!URL.canParse(url)) throw new Error(`${where}: ${name} of the environment is no URL`)
  return url
}
