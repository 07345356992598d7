import type {
  Registry,
  RegistryBody,
  RegistryChain,
  RegistryToken,
} from '../../quorum-protocol/registry.js'

/**
 * A token that the root pinned in the registry. The identity provider uses pinned tokens to tell
 * people what a call moves; about any other token it has only the service's claim.
 */
export interface PinnedToken {
  readonly symbol: string
  readonly decimals: number
}

/** The same bound as for a chain in `chains.json`. */
const TOKENS_PER_CHAIN_MAX = 256
/** More decimals than a 256-bit amount has digits are a mistake. */
const DECIMALS_MAX = 36
const GAS_LIMIT_MIN = 21_000
const ADDRESS = /^0x[0-9a-fA-F]{40}$/
/** Visible letters, digits and signs; no invisible characters, and none that reverse text. */
const SYMBOL = /^[^\p{C}\p{Zl}\p{Zp}]{1,32}$/u

type TokenTable = ReadonlyMap<number, ReadonlyMap<string, PinnedToken>>

/** Cached per registry, because a registry never changes. */
const tables = new WeakMap<object, TokenTable>()

/**
 * @param address hex, in any case
 * @returns null when the root did not pin that token
 */
export function pinnedToken(
  registry: Pick<Registry, 'envelope'>,
  chainId: number,
  address: string,
): PinnedToken | null {
  return pinnedTokens(registry, chainId).get(address.toLowerCase()) ?? null
}

/** Returns all pinned tokens of a chain, by lower-case address. */
export function pinnedTokens(
  { envelope }: Pick<Registry, 'envelope'>,
  chainId: number,
): ReadonlyMap<string, PinnedToken> {
  const table = tables.get(envelope) ?? tableOf(envelope.body)
  tables.set(envelope, table)
  return table.get(chainId) ?? NONE
}

const NONE: ReadonlyMap<string, PinnedToken> = new Map()

/** A mistake in one row loses only that token's name, not the registry. */
function tableOf(body: Uint8Array): TokenTable {
  const { chains } = JSON.parse(Buffer.from(body).toString('utf8')) as RegistryBody
  return new Map(
    chains.map(({ chain_id, tokens = [] }) => [
      chain_id,
      new Map(
        tokens
          .slice(0, TOKENS_PER_CHAIN_MAX)
          .filter((token) => faultOf(token) === null)
          .map(({ address, symbol, decimals }) => [address.toLowerCase(), { symbol, decimals }]),
      ),
    ]),
  )
}

/**
 * Checks, before the root signs a draft, that the domains will be able to read its pins.
 * @throws Error that names the chain and the pin
 */
export function requireReadablePins({ chains }: Pick<RegistryBody, 'chains'>): void {
  for (const chain of chains) requireReadable(chain)
}

function requireReadable({ chain_id, max_gas_limit, tokens = [] }: RegistryChain): void {
  const chain = `chain ${chain_id} of the registry`
  if (max_gas_limit !== undefined && !isGasLimit(max_gas_limit)) {
    throw new Error(`${chain}: max_gas_limit must be an integer of at least ${GAS_LIMIT_MIN}`)
  }
  if (!Array.isArray(tokens) || tokens.length > TOKENS_PER_CHAIN_MAX) {
    throw new Error(`${chain}: tokens must be a list of at most ${TOKENS_PER_CHAIN_MAX}`)
  }
  const seen = new Set<string>()
  for (const token of tokens) {
    const fault = faultOf(token)
    if (fault !== null) throw new Error(`${chain}: ${fault}`)
    const address = token.address.toLowerCase()
    if (seen.has(address)) throw new Error(`${chain}: it pins ${token.address} twice`)
    seen.add(address)
  }
}

function isGasLimit(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= GAS_LIMIT_MIN
}

function faultOf({ address, symbol, decimals }: RegistryToken): string | null {
  if (!ADDRESS.test(address)) return `${JSON.stringify(address)} is not the address of a token`
  if (!SYMBOL.test(symbol)) return `the symbol of ${address} must be 1 to 32 visible characters`
  const fits = Number.isSafeInteger(decimals) && decimals >= 0 && decimals <= DECIMALS_MAX
  return fits ? null : `the decimals of ${address} must be an integer from 0 to ${DECIMALS_MAX}`
}
