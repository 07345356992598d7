import { encodeFunctionData } from 'viem'
import type { ChainAccess } from '../chains/access.js'
import type { ChainConfig } from '../config/chains.js'
import { delegateDeployment, routerDeployment } from '../contracts/deployment.js'
import { agentDelegateAbi } from '../contracts/generated/agent-delegate.js'
import { agentRouterAbi } from '../contracts/generated/agent-router.js'
import { SWAP_SELECTORS, VAULT_SELECTORS } from '../contracts/venue-calls.js'
import type { Address, Hex } from '../domain/ids.js'
import type { ContractReads } from './contract-reads.js'

/**
 * What is to be done about a chain's Router, as transactions for others to send: the owner is meant
 * to be a cold multi-signature wallet, so nothing here holds a key or sends anything. An empty plan
 * says that the chain is as the policy wants it.
 */
export interface RouterPolicy {
  /** Owns the Router; part of its address. */
  readonly owner: Address
  /** P-256 public key of the co-signer, 32 bytes each. */
  readonly coSigner: { readonly x: Hex; readonly y: Hex }
  /** Gas wallets of this chain. */
  readonly relayers: readonly Address[]
  readonly feeRecipient: Address
  /** May pause, besides the owner; null leaves it as it is. */
  readonly guardian: Address | null
  readonly allowedCalls: readonly AllowedCall[]
}

export interface AllowedCall {
  readonly target: Address
  readonly selector: Hex
}

export interface RouterStep {
  /** One line for a person. */
  readonly what: string
  /** `anyone` may send a deployment; all else is the owner's. */
  readonly sender: 'anyone' | 'owner'
  readonly to: Address
  readonly data: Hex
}

/** Addresses that depend on the owner alone, the same on every chain. */
export function routerAddresses(owner: Address): { router: Address; delegate: Address } {
  const router = routerDeployment(owner).address
  return { router, delegate: delegateDeployment(router).address }
}

/** What a Router must allow for the venues of a chain's configuration, and nothing more. */
export function allowedCallsOf({ swap, markets }: ChainConfig): AllowedCall[] {
  const swaps =
    swap === null
      ? []
      : SWAP_SELECTORS.map((selector) => ({ target: swap.router as Address, selector }))
  const vaults = markets.flatMap(({ vault }) =>
    VAULT_SELECTORS.map((selector) => ({ target: vault as Address, selector })),
  )
  return [...swaps, ...vaults]
}

/** The two deployments, where there is no code yet. @throws FaultError CHAIN_UNAVAILABLE */
export async function planDeployment(chain: ChainAccess, owner: Address): Promise<RouterStep[]> {
  const router = routerDeployment(owner)
  const delegate = delegateDeployment(router.address)
  const named = [
    { name: 'AgentRouter', deployment: router },
    { name: 'AgentDelegate', deployment: delegate },
  ]
  const steps: RouterStep[] = []
  for (const { name, deployment } of named) {
    chain.reads.forgetCode(deployment.address)
    if ((await chain.reads.code(deployment.address)).kind === 'contract') continue
    const what = `deploy ${name} at ${deployment.address}`
    steps.push({ what, sender: 'anyone', ...deployment.transaction })
  }
  return steps
}

/**
 * What the owner has to change; to be asked for once the Router is deployed.
 * @throws Error when another Router answers at that address
 */
export async function planConfiguration(
  reads: ContractReads,
  chain: ChainAccess,
  policy: RouterPolicy,
): Promise<RouterStep[]> {
  const { router, delegate } = routerAddresses(policy.owner)
  const read = async <T>(answer: Promise<T | null>, what: string): Promise<T> => {
    const value = await answer
    if (value === null) throw new Error(`${what} does not answer on chain ${chain.config.id}`)
    return value
  }
  const bound = await read(reads.read(chain, delegate, agentDelegateAbi, 'ROUTER', []), 'delegate')
  if (bound !== router) throw new Error('the delegate obeys another Router')
  const [owner, [x, y], recipient, guardian] = await Promise.all([
    read(reads.read(chain, router, agentRouterAbi, 'owner', []), 'owner'),
    read(reads.read(chain, router, agentRouterAbi, 'coSigner', []), 'coSigner'),
    read(reads.read(chain, router, agentRouterAbi, 'feeRecipient', []), 'feeRecipient'),
    read(reads.read(chain, router, agentRouterAbi, 'guardian', []), 'guardian'),
  ])
  if (owner !== policy.owner) throw new Error(`the Router is owned by ${owner}`)
  const missingRelayers = await missing(policy.relayers, (relayer) =>
    read(reads.read(chain, router, agentRouterAbi, 'isRelayer', [relayer]), 'isRelayer'),
  )
  const missingCalls = await missing(policy.allowedCalls, ({ target, selector }) =>
    read(
      reads.read(chain, router, agentRouterAbi, 'isAllowedCall', [target, selector]),
      'isAllowedCall',
    ),
  )
  const steps: RouterStep[] = []
  const step = (what: string, data: Hex) => steps.push({ what, sender: 'owner', to: router, data })
  if (missingCalls.length > 0) {
    step(
      `allow ${missingCalls.length} calls of venues`,
      encodeFunctionData({ abi: agentRouterAbi, functionName: 'allowCalls', args: [missingCalls] }),
    )
  }
  if (missingRelayers.length > 0) {
    step(
      `add ${missingRelayers.length} relayers`,
      encodeFunctionData({
        abi: agentRouterAbi,
        functionName: 'addRelayers',
        args: [missingRelayers],
      }),
    )
  }
  if (recipient !== policy.feeRecipient) {
    step(
      `pay fees to ${policy.feeRecipient}`,
      encodeFunctionData({
        abi: agentRouterAbi,
        functionName: 'setFeeRecipient',
        args: [policy.feeRecipient],
      }),
    )
  }
  const wanted = policy.guardian
  if (wanted !== null && guardian !== wanted) {
    step(
      `let ${wanted} pause`,
      encodeFunctionData({ abi: agentRouterAbi, functionName: 'setGuardian', args: [wanted] }),
    )
  }
  const { coSigner } = policy
  if (BigInt(x) !== BigInt(coSigner.x) || BigInt(y) !== BigInt(coSigner.y)) {
    // Last: until a co-signer is set, nothing executes.
    step(
      'set the co-signer, the former one valid for ten minutes more',
      encodeFunctionData({
        abi: agentRouterAbi,
        functionName: 'setCoSigner',
        args: [coSigner.x, coSigner.y, CO_SIGNER_OVERLAP_SECONDS],
      }),
    )
  }
  return steps
}

/** As long as an intent under the former key may live (AgentRouter, MAX_LIFETIME). */
const CO_SIGNER_OVERLAP_SECONDS = 600n

async function missing<T>(
  wanted: readonly T[],
  isThere: (item: T) => Promise<boolean>,
): Promise<T[]> {
  const there = await Promise.all(wanted.map(isThere))
  return wanted.filter((_, i) => there[i] === false)
}
