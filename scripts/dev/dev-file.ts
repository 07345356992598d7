import type { ChainConfig } from '../../src/config/chains.js'
import type { Bootstrap } from './bootstrap.js'
import type { DevUser } from './dev-user.js'

/** `dev.json`: what a client, a test or a page needs to use the running instance. */
export interface DevFile {
  readonly base_url: string
  readonly mcp_url: string
  /** The issuer of console tokens. */
  readonly issuer: string
  /** Page of the identity provider for passkeys. */
  readonly authorizers_url: string
  readonly user: DevUser
  readonly sub_wallet_id: string
  readonly address: string
  readonly keys: Bootstrap['keys']
  /** RPC URLs by chain id. */
  readonly rpc: Readonly<Record<string, string>>
  /** Token addresses by chain id and symbol; `WRAPPED` is the wrapped native currency on every chain. */
  readonly tokens: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly pids: DevPids
}

export interface DevPids {
  readonly service: number | null
  readonly identity_provider: number | null
  readonly quorum_signer: number | null
  readonly chains: Readonly<Record<string, number | null>>
}

export interface DevFileParts {
  readonly baseUrl: string
  readonly issuer: string
  readonly authorizersUrl: string
  readonly user: DevUser
  readonly made: Bootstrap
  readonly chains: readonly ChainConfig[]
  readonly pids: DevPids
}

export function devFileOf({
  baseUrl,
  issuer,
  authorizersUrl,
  user,
  made,
  chains,
  pids,
}: DevFileParts): DevFile {
  const byChain = <T>(value: (chain: ChainConfig) => T): Record<string, T> =>
    Object.fromEntries(chains.map((chain) => [String(chain.id), value(chain)]))
  return {
    base_url: baseUrl,
    mcp_url: `${baseUrl}/mcp`,
    issuer,
    authorizers_url: authorizersUrl,
    user,
    sub_wallet_id: made.sub_wallet_id,
    address: made.address,
    keys: made.keys,
    rpc: byChain((chain) => chain.rpc_urls[0] ?? ''),
    tokens: byChain((chain) => ({
      ...Object.fromEntries(
        chain.tokens
          .filter(({ address }) => address !== chain.wrapped_native)
          .map(({ symbol, address }) => [symbol, address]),
      ),
      WRAPPED: chain.wrapped_native,
    })),
    pids,
  }
}
