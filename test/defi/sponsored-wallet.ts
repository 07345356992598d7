import { createPublicClient, http } from 'viem'
import { deployerAccount } from '../../scripts/dev/chains/deployer.js'
import { fund } from '../../scripts/dev/faucet.js'
import { devHome } from '../../scripts/dev/home/layout.js'
import { readChainsFile } from '../../src/config/chains.js'
import { erc20Abi } from '../../src/contracts/abis/erc20.js'
import type { Address } from '../../src/domain/ids.js'
import { type IssuedKey, issueKey, type KeyWishes, type Stack } from '../e2e/stack.js'

/** A sub-wallet of its own with a key, and what the chain itself says of it. */
export interface SponsoredWallet {
  readonly subWalletId: string
  readonly address: Address
  readonly key: IssuedKey
}

export interface Chain {
  readonly id: number
  readonly usdc: Address
  readonly wrapped: Address
  readonly router: Address | null
  readonly delegate: Address | null
  readonly vault: Address
  readonly marketId: string
  /** Receives the fees on development chains. */
  readonly feeRecipient: Address
  /** One whole USDC. */
  readonly oneUsdc: bigint
  readonly client: ReturnType<typeof createPublicClient>
  balance(token: Address, owner: Address): Promise<bigint>
}

export async function newWallet(stack: Stack, wishes: KeyWishes = {}): Promise<SponsoredWallet> {
  const made = await stack.owner.post('/wallets', { name: 'sponsored' })
  const { sub_wallet_id: subWalletId, addresses } = made.json
  if (subWalletId === undefined || addresses === undefined) throw new Error(made.text)
  const key = await issueKey(stack, { ...wishes, subWalletId })
  return { subWalletId, address: addresses.evm as Address, key }
}

/** @param token `native`, or a symbol */
export async function give(
  { service }: Stack,
  chainId: number,
  to: Address,
  amount: string,
  token: string,
): Promise<void> {
  const home = devHome({ COUNTERSIGN_HOME: service.home })
  const chain = readChainsFile(home.chainsFile).chains.find(({ id }) => id === chainId)
  if (chain === undefined) throw new Error(`no chain ${chainId}`)
  await fund({ chain, deployer: deployerAccount(home).address, to, amount, token })
}

export function chainOf({ service }: Stack, chainId: number): Chain {
  const home = devHome({ COUNTERSIGN_HOME: service.home })
  const config = readChainsFile(home.chainsFile).chains.find(({ id }) => id === chainId)
  const usdc = config?.tokens.find(({ symbol }) => symbol === 'USDC')
  const market = config?.markets[0]
  if (config === undefined || usdc === undefined || market === undefined) {
    throw new Error(`no chain ${chainId}`)
  }
  const client = createPublicClient({ transport: http(config.rpc_urls[0]) })
  return {
    id: chainId,
    usdc: usdc.address as Address,
    wrapped: config.wrapped_native as Address,
    router: config.router as Address | null,
    delegate: config.delegate as Address | null,
    vault: market.vault as Address,
    marketId: market.market_id,
    feeRecipient: deployerAccount(home).address,
    oneUsdc: 10n ** BigInt(usdc.decimals),
    client,
    balance: (token, owner) =>
      client.readContract({
        address: token,
        abi: erc20Abi,
        functionName: 'balanceOf',
        args: [owner],
      }),
  }
}
