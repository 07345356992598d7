import {
  type Abi,
  type ContractFunctionArgs,
  type ContractFunctionName,
  decodeErrorResult,
  type PrivateKeyAccount,
  type TransactionReceipt,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { type ChainWriter, openChainWriter } from '../../scripts/contracts/chain-writer.js'
import { deploySponsoredWorld, type SponsoredWorld } from '../../scripts/contracts/devnet-world.js'
import { configureRouter, deployRouter } from '../../scripts/contracts/router-setup.js'
import { erc20Abi } from '../../src/contracts/abis/erc20.js'
import agentDelegate from '../../src/contracts/generated/agent-delegate.json' with { type: 'json' }
import agentRouter from '../../src/contracts/generated/agent-router.json' with { type: 'json' }
import devUsdc from '../../src/contracts/generated/dev-usdc.json' with { type: 'json' }
import devWrappedNative from '../../src/contracts/generated/dev-wrapped-native.json' with {
  type: 'json',
}
import { encodeExecute } from '../../src/contracts/router-intent.js'
import type { RouterIntent } from '../../src/contracts/router-intent-type.js'
import { NATIVE_TOKEN } from '../../src/domain/chains.js'
import type { Address, Hex } from '../../src/domain/ids.js'
import { type Anvil, startAnvil } from '../support/anvil.js'
import {
  type CoSignerKey,
  createCoSignerKey,
  type IntentSignatures,
  signIntent,
} from './signing.js'

/** A real anvil with the whole sponsored world on it, and actors to play on it. */
export interface SponsoredChain {
  readonly anvil: Anvil
  readonly chainId: number
  /** Owns every contract. */
  readonly owner: ChainWriter
  /** On the Router's allow-list; pays the gas. */
  readonly relayer: ChainWriter
  readonly coSigner: CoSignerKey
  readonly feeRecipient: Address
  readonly usdc: Address
  readonly wrapped: Address
  readonly router: Address
  readonly delegate: Address
  readonly world: SponsoredWorld
  stop(): Promise<void>
}

/** A sub-wallet in a test: its key, and the nonces of its intents. */
export interface Agent {
  readonly key: PrivateKeyAccount
  readonly address: Address
  nextNonce(): bigint
}

export type Terms = Omit<RouterIntent, 'account' | 'nonce' | 'deadline' | 'feeBps'> & {
  readonly feeBps?: number
}

export const FEE_BPS = 30
export const NATIVE_PRICE_USD8 = 3_000_00000000n
/** Covers every flow with room; refused calls are sent with it too, so that they are mined. */
const GAS_LIMIT = 1_500_000n
const ETHER = 10n ** 18n

export async function startSponsoredChain(
  chainId = 8453,
  usdcDecimals = 6,
): Promise<SponsoredChain> {
  const anvil = await startAnvil({ chainId })
  try {
    const writer = async () => {
      const account = privateKeyToAccount(generatePrivateKey())
      const chain = openChainWriter(anvil.url, chainId, account)
      await chain.client.setBalance({ address: account.address, value: 1_000n * ETHER })
      return chain
    }
    const owner = await writer()
    const relayer = await writer()
    const coSigner = createCoSignerKey()
    const feeRecipient = privateKeyToAccount(generatePrivateKey()).address
    const wrapped = await owner.deploy(
      devWrappedNative.bytecode,
      ['string', 'string'],
      ['Wrapped Ether', 'WETH'],
    )
    const usdc = await owner.deploy(
      devUsdc.bytecode,
      ['string', 'string', 'uint8', 'address'],
      ['USD Coin', 'USDC', usdcDecimals, owner.account.address],
    )
    const world = await deploySponsoredWorld({
      rpcUrl: anvil.url,
      chainId,
      deployer: owner.account,
      usdc,
      wrappedNative: wrapped,
      nativePriceUsd8: NATIVE_PRICE_USD8,
    })
    const { router, delegate } = await deployRouter(owner)
    await configureRouter(
      owner,
      { router, delegate },
      {
        coSigners: {
          keys: [{ ...coSigner, endsInSeconds: null }],
          endsUnnamed: false,
          doubt: () => {},
        },
        relayers: [relayer.account.address],
        feeRecipient,
        allowedCalls: world.allowedCalls,
      },
    )
    const stop = () => anvil.stop()
    return {
      ...{ anvil, chainId, owner, relayer, coSigner, feeRecipient },
      ...{ usdc, wrapped, router, delegate, world, stop },
    }
  } catch (cause) {
    await anvil.stop()
    throw cause
  }
}

/** A fresh sub-wallet without native currency, holding `usdcAmount`. */
export async function createAgent(chain: SponsoredChain, usdcAmount = 10_000_000_000n) {
  const key = privateKeyToAccount(generatePrivateKey())
  await chain.owner.write(chain.usdc, devUsdc.abi, 'mint', [key.address, usdcAmount])
  let nonce = 0n
  const agent: Agent = { key, address: key.address, nextNonce: () => nonce++ }
  return agent
}

/** As `createAgent`, already delegated. */
export async function createDelegatedAgent(chain: SponsoredChain, usdcAmount?: bigint) {
  const agent = await createAgent(chain, usdcAmount)
  await chain.relayer.client.sendTransactionSync({
    to: agent.address,
    gas: 100_000n,
    authorizationList: [await authorization(chain, agent)],
  })
  return agent
}

export async function authorization(chain: SponsoredChain, agent: Agent) {
  return agent.key.signAuthorization({
    chainId: chain.chainId,
    address: chain.delegate,
    nonce: await chain.owner.client.getTransactionCount({ address: agent.address }),
  })
}

export async function intentOf(
  chain: SponsoredChain,
  agent: Agent,
  terms: Terms,
): Promise<RouterIntent> {
  const { timestamp } = await chain.owner.client.getBlock()
  return {
    feeBps: FEE_BPS,
    ...terms,
    account: agent.address,
    nonce: agent.nextNonce(),
    deadline: Number(timestamp) + 120,
  }
}

export async function sign(chain: SponsoredChain, agent: Agent, intent: RouterIntent) {
  return signIntent(agent.key, chain.coSigner, chain, intent)
}

/** Signs and sends an intent; the receipt may be one of a revert. */
export async function execute(
  chain: SponsoredChain,
  agent: Agent,
  intent: RouterIntent,
  overrides: {
    readonly signatures?: IntentSignatures
    readonly relayer?: ChainWriter
    readonly delegates?: boolean
  } = {},
): Promise<TransactionReceipt> {
  const signatures = overrides.signatures ?? (await sign(chain, agent, intent))
  const list = overrides.delegates ? { authorizationList: [await authorization(chain, agent)] } : {}
  return (overrides.relayer ?? chain.relayer).client.sendTransactionSync({
    to: chain.router,
    data: encodeExecute(intent, signatures.user, signatures.co),
    gas: GAS_LIMIT,
    ...list,
  })
}

/** Name of the custom error that a mined transaction reverted with; null when it succeeded. */
export async function revertReason(
  chain: SponsoredChain,
  receipt: TransactionReceipt,
): Promise<string | null> {
  if (receipt.status === 'success') return null
  const trace = (await chain.anvil.rpc('debug_traceTransaction', [
    receipt.transactionHash,
    { tracer: 'callTracer', tracerConfig: { onlyTopCall: true } },
  ])) as { output?: Hex }
  return errorName(trace.output)
}

/** Name of the custom error that a call or a send was refused with; null when it went through. */
export async function refusalOf(attempt: Promise<unknown>): Promise<string | null> {
  try {
    await attempt
    return null
  } catch (error) {
    for (let e = error; e instanceof Error; e = e.cause) {
      if ('raw' in e && typeof e.raw === 'string') return errorName(e.raw as Hex)
      if ('data' in e && typeof e.data === 'string') return errorName(e.data as Hex)
    }
    throw error
  }
}

/** Errors of both contracts; those of tokens and venues come by their 4 bytes. */
function errorName(data: Hex | undefined): string {
  if (data === undefined || data === '0x') return 'no reason'
  try {
    return decodeErrorResult({ abi: [...agentRouter.abi, ...agentDelegate.abi], data }).errorName
  } catch {
    return data.slice(0, 10)
  }
}

export async function balanceOf(
  chain: SponsoredChain,
  token: Address,
  account: Address,
): Promise<bigint> {
  const { client } = chain.owner
  if (token === NATIVE_TOKEN) return client.getBalance({ address: account })
  return client.readContract({
    address: token,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [account],
  })
}

/** Reads from the Router. */
export function readRouter<
  const name extends ContractFunctionName<typeof agentRouter.abi, 'view' | 'pure'>,
>(
  chain: SponsoredChain,
  functionName: name,
  args: ContractFunctionArgs<typeof agentRouter.abi, 'view' | 'pure', name>,
) {
  return chain.owner.client.readContract({
    address: chain.router,
    abi: agentRouter.abi as Abi,
    functionName: functionName as string,
    args: args as readonly unknown[],
  })
}
