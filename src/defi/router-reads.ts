import type { Abi, ContractFunctionArgs, ContractFunctionName } from 'viem'
import { decodeFunctionResult, encodeFunctionData } from 'viem/utils'
import type { ChainAccess } from '../chains/access.js'
import { delegateCodeProblem, routerCodeProblem } from '../contracts/deployed-code.js'
import agentDelegate from '../contracts/generated/agent-delegate.json' with { type: 'json' }
import agentRouter from '../contracts/generated/agent-router.json' with { type: 'json' }
import type { Address, Hex } from '../domain/ids.js'

/** The part of a chain that reading its Router needs. */
export interface RouterChain {
  readonly chainId: number
  readonly rpc: Pick<ChainAccess['rpc'], 'request'>
}

/** A venue's function that intents may call. */
export interface AllowedCall {
  readonly target: Address
  readonly selector: Hex
}

/** A co-signer's P-256 point, 32 bytes each. */
export interface CoSignerKey {
  readonly x: Hex
  readonly y: Hex
}

export function isAmong(keys: readonly CoSignerKey[], { x, y }: CoSignerKey): boolean {
  return keys.some((key) => BigInt(key.x) === BigInt(x) && BigInt(key.y) === BigInt(y))
}

/** `until` of a co-signer without an end: the Router's `UNENDED`. */
export const UNENDED = 2 ** 48 - 1

/** A Router and the delegate that obeys it. */
export interface RouterPair {
  readonly router: Address
  readonly delegate: Address
}

/**
 * Reads the state of a deployed Router. Each method throws Error when no such contract answers
 * there.
 */
export function openRouter({ chainId, rpc }: RouterChain, { router, delegate }: RouterPair) {
  async function read(to: Address, abi: Abi, functionName: string, args: readonly unknown[]) {
    const data = encodeFunctionData({ abi, functionName, args })
    try {
      const answer = await rpc.request<Hex>('eth_call', [{ to, data }, 'latest'])
      return decodeFunctionResult({ abi, functionName, args, data: answer })
    } catch (cause) {
      throw new Error(
        `${functionName} does not answer at ${to} on chain ${chainId}; countersign contracts verify says whether it is the one of this build`,
        { cause },
      )
    }
  }
  const ask = <
    name extends ContractFunctionName<typeof agentRouter.abi, 'view'>,
    const args extends ContractFunctionArgs<typeof agentRouter.abi, 'view', name>,
  >(
    functionName: name,
    ...args: args extends readonly unknown[] ? args : never
  ) => read(router, agentRouter.abi, functionName, args)

  return {
    async expectOwner(expected: Address): Promise<void> {
      const owner = await ask('owner')
      if (owner !== expected) {
        throw new Error(`the Router on chain ${chainId} is owned by ${String(owner)}`)
      }
    },
    boundTo: () => read(delegate, agentDelegate.abi, 'ROUTER', []) as Promise<Address>,
    /** Every key that ever was a co-signer, with the time until which it is valid, Unix seconds. */
    async coSigners(): Promise<readonly (CoSignerKey & { readonly until: number })[]> {
      const all = (await ask('coSigners')) as readonly {
        readonly key: CoSignerKey
        readonly until: number
      }[]
      return all.map(({ key, until }) => ({ ...key, until }))
    },
    /** Unix seconds of the newest block, by which keys end. */
    async blockTime(): Promise<number> {
      const block = await rpc.request<{ timestamp: Hex }>('eth_getBlockByNumber', ['latest', false])
      return Number(block.timestamp)
    },
    feeRecipient: () => ask('feeRecipient') as Promise<Address>,
    guardian: () => ask('guardian') as Promise<Address>,
    isPaused: () => ask('paused') as Promise<boolean>,
    isRelayer: (relayer: Address) => ask('isRelayer', relayer) as Promise<boolean>,
    isAllowedCall: ({ target, selector }: AllowedCall) =>
      ask('isAllowedCall', target, selector) as Promise<boolean>,
  }
}

/** How one deployed contract compares with the committed artifact. */
interface VerifiedContract {
  readonly contract: 'AgentRouter' | 'AgentDelegate'
  readonly address: Address
  /** Null when code and immutables match the artifact. */
  readonly problem: string | null
}

/** @throws FaultError CHAIN_UNAVAILABLE */
export async function verifyRouter(
  { rpc }: RouterChain,
  { router, delegate }: RouterPair,
): Promise<VerifiedContract[]> {
  const codeAt = (address: Address) => rpc.request<Hex>('eth_getCode', [address, 'latest'])
  const [routerCode, delegateCode] = await Promise.all([codeAt(router), codeAt(delegate)])
  return [
    { contract: 'AgentRouter', address: router, problem: routerCodeProblem(routerCode) },
    {
      contract: 'AgentDelegate',
      address: delegate,
      problem: delegateCodeProblem(delegateCode, router),
    },
  ]
}
